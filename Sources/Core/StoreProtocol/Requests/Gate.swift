package import RedisProtocol

/// Pauses an app: nothing new is checked out until it is resumed.
package struct Pause: Request {
    package static var script: Script? { .gate }

    package var reason: String
    /// Names the credentials that failed, so that new ones can lift the pause; "" when they are not the cause.
    package var fingerprint: String
    /// The operator who wants it; "" when the farm does. Only operators lift a pause of theirs.
    package var by: String

    package init(reason: String, fingerprint: String = "", by: String = "") {
        (self.reason, self.fingerprint, self.by) = (reason, fingerprint, by)
    }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys)
        command.append("pause")
        command.append(reason.isEmpty ? "paused" : reason)
        command.append(fingerprint)
        command.append(by)
    }

    /// Whether something changed.
    package static func read(_ value: RESPValue) throws(StoreError) -> Bool { try value.changed("pause") }
}

package struct Resume: Request {
    package enum Reply: Equatable, Sendable {
        case resumed
        case wasNotPaused
        /// An operator has paused it, and ``Resume/isOwn`` leaves that alone.
        case heldByOperator
    }

    package static var script: Script? { .gate }

    /// Lifts only what the farm has paused by itself.
    package var isOwn: Bool

    package init(isOwn: Bool = false) { self.isOwn = isOwn }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys)
        command.append("resume")
        command.append(isOwn ? "own" : "any")
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        switch value.integer {
        case 0: .wasNotPaused
        case 1: .resumed
        case 2: .heldByOperator
        default: throw .unexpectedReply("resume")
        }
    }
}

/// Why and since when an app is paused.
package struct ReadGate: Request {
    package struct Pause: Equatable, Sendable {
        package let reason: String
        package let fingerprint: String
        /// Unix milliseconds of Redis's clock.
        package let since: Int64
        /// The operator who wants it; nil when the farm does.
        package var by: String? = nil

        /// - Parameter parts: the gate's `paused`, `fingerprint`, `since` and `paused_by`.
        init?(_ parts: ArraySlice<RESPValue>) {
            let texts = parts.map(\.text)
            guard texts.count == 4, let reason = texts[0] else { return nil }
            (self.reason, fingerprint, by) = (reason, texts[1] ?? "", texts[3])
            since = texts[2].flatMap { Int64(foreign: $0) } ?? 0
        }

        static let fields = ["paused", "fingerprint", "since", "paused_by"]
    }

    package init() {}

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("HMGET")
        command.append(keys.admission)
        for field in Pause.fields { command.append(field) }
    }

    /// Nil if it is not paused.
    package static func read(_ value: RESPValue) throws(StoreError) -> Pause? {
        guard let parts = value.array, parts.count == Pause.fields.count else {
            throw .unexpectedReply("gate")
        }
        return Pause(parts[...])
    }
}

extension RESPValue {
    func changed(_ step: String) throws(StoreError) -> Bool {
        guard let changed = integer else { throw .unexpectedReply(step) }
        return changed == 1
    }
}
