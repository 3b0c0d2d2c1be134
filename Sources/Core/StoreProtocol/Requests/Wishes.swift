package import RedisProtocol

/// What an operator wants an app's rate to be, for the whole farm; it wins over the configuration.
package enum DesiredRate: Equatable, Sendable {
    /// No limit of the farm's.
    case off
    /// Pushes a second, within ``rates``.
    case limit(Double)

    /// One push in twelve days, and more than a farm sends.
    package static let rates = 1e-6...1e9

    /// As Redis holds it; nil if it says nothing that makes sense.
    package init?(_ text: String) {
        if text == "off" {
            self = .off
        } else if let rate = Double(text), Self.rates.contains(rate) {
            self = .limit(rate)
        } else {
            return nil
        }
    }

    package var text: String {
        switch self {
        case .off: "off"
        case .limit(let rate): rate == rate.rounded() && rate < 1e9 ? "\(Int(clamping: rate))" : "\(rate)"
        }
    }
}

/// Stores what an operator wants the rate to be; nil: as it is configured.
package struct SetRate: Request {
    package static var script: Script? { .gate }

    package var rate: DesiredRate?
    package var by: String

    package init(_ rate: DesiredRate?, by: String) { (self.rate, self.by) = (rate, by) }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys, wish: "rate", rate?.text, by)
    }

    /// Whether something changed.
    package static func read(_ value: RESPValue) throws(StoreError) -> Bool { try value.changed("rate") }
}

/// Opens or closes an app to producers, whatever there is room for; nil: as there is room.
package struct SetAdmission: Request {
    package enum Admission: String, Sendable {
        case open, closed
    }

    package static var script: Script? { .gate }

    package var admission: Admission?
    package var by: String

    package init(_ admission: Admission?, by: String) { (self.admission, self.by) = (admission, by) }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys, wish: "admission", admission?.rawValue, by)
    }

    /// Whether something changed.
    package static func read(_ value: RESPValue) throws(StoreError) -> Bool { try value.changed("admission") }
}

extension RESPCommand {
    /// - Parameter value: nil takes the wish back.
    fileprivate mutating func append(_ keys: Keys, wish: String, _ value: String?, _ by: String) {
        append(keys)
        append(wish)
        append(value ?? "")
        append(by)
    }
}

/// What a coordinator has to know of an app's gate.
package struct ReadStanding: Request {
    package struct Standing: Equatable, Sendable {
        /// Nil if it is not paused.
        package var pause: ReadGate.Pause?
        /// Nil: as it is configured.
        package var rate: DesiredRate?
        /// What the gate has as a rate and is none; the rate is as configured.
        package var refusedRate: String?
        /// Nil: as there is room.
        package var admission: SetAdmission.Admission?
        /// Who wanted the rate, and the door.
        package var rateBy: String?
        package var admissionBy: String?
        /// Goes up with each change of what is held back: jobs, devices, shards.
        package var holds = 0
        /// Jobs that are called back and not finished.
        package var cancels = 0

        package init() {}

        fileprivate init(_ texts: [String?], pause: ReadGate.Pause?) {
            self.pause = pause
            (rate, admission) = (
                texts[4].flatMap(DesiredRate.init), texts[5].flatMap(SetAdmission.Admission.init)
            )
            refusedRate = rate == nil ? texts[4].flatMap { $0.isEmpty ? nil : $0 } : nil
            (rateBy, admissionBy) = (texts[6], texts[7])
            holds = texts[8].flatMap { Int(foreign: $0) } ?? 0
            cancels = texts[9].flatMap { Int(foreign: $0) } ?? 0
        }
    }

    private static let fields =
        ReadGate.Pause.fields + ["rate", "admission", "rate_by", "admission_by", "pause_changes", "cancels"]

    package init() {}

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("HMGET")
        command.append(keys.admission)
        for field in Self.fields { command.append(field) }
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Standing {
        guard let parts = value.array, parts.count == fields.count else { throw .unexpectedReply("standing") }
        return Standing(parts.map(\.text), pause: ReadGate.Pause(parts[..<4]))
    }
}
