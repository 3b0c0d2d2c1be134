package import RESP

/// Pauses an app: nothing new is checked out until it is resumed.
package struct Pause: Request {
    package static var script: Script? { .gate }

    package var reason: String
    /// Names the credentials that failed, so that new ones can lift the pause; "" when an operator paused.
    package var fingerprint: String

    package init(reason: String, fingerprint: String = "") {
        (self.reason, self.fingerprint) = (reason, fingerprint)
    }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys)
        command.append("pause")
        command.append(reason.isEmpty ? "paused" : reason)
        command.append(fingerprint)
    }

    /// Whether something changed.
    package static func read(_ value: RESPValue) throws(StoreError) -> Bool { try value.changed("pause") }
}

package struct Resume: Request {
    package static var script: Script? { .gate }

    package init() {}

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys)
        command.append("resume")
    }

    /// Whether the app was paused.
    package static func read(_ value: RESPValue) throws(StoreError) -> Bool { try value.changed("resume") }
}

/// Why and since when an app is paused.
package struct ReadGate: Request {
    package struct Pause: Equatable, Sendable {
        package let reason: String
        package let fingerprint: String
        /// Unix milliseconds of Redis's clock.
        package let since: Int64
    }

    package init() {}

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("HMGET")
        command.append(keys.gate)
        for field in ["paused", "fingerprint", "since"] { command.append(field) }
    }

    /// Nil if it is not paused.
    package static func read(_ value: RESPValue) throws(StoreError) -> Pause? {
        guard let parts = value.array, parts.count == 3 else { throw .unexpectedReply("gate") }
        guard let reason = parts[0].text else { return nil }
        return Pause(
            reason: reason, fingerprint: parts[1].text ?? "",
            since: parts[2].text.flatMap { Int64($0) } ?? 0)
    }
}

extension RESPValue {
    fileprivate func changed(_ step: String) throws(StoreError) -> Bool {
        guard let changed = integer else { throw .unexpectedReply(step) }
        return changed == 1
    }
}
