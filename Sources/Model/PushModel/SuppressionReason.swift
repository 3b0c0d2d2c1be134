/// Why pushes to a token are left out. The raw value is its letter in records.
package enum SuppressionReason: UInt8, CaseIterable, Sendable {
    case badDeviceToken = 0x42  // B
    case deviceTokenNotForTopic = 0x54  // T
    case unregistered = 0x55  // U
    case expiredToken = 0x45  // E
    /// The binary interface's status 8.
    case invalidToken = 0x49  // I
    /// The binary interface's status 5.
    case invalidTokenSize = 0x53  // S
    /// The feedback service told of it.
    case feedback = 0x46  // F
    /// An operator asked for it.
    case `operator` = 0x4F  // O

    /// As in lists and events; the gateway's own word where it has one.
    package var name: String {
        switch self {
        case .badDeviceToken: "BadDeviceToken"
        case .deviceTokenNotForTopic: "DeviceTokenNotForTopic"
        case .unregistered: "Unregistered"
        case .expiredToken: "ExpiredToken"
        case .invalidToken: "InvalidToken"
        case .invalidTokenSize: "InvalidTokenSize"
        case .feedback: "Feedback"
        case .operator: "Operator"
        }
    }

    package init?(name: String) {
        guard let reason = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = reason
    }

    /// - Parameters:
    ///   - answer: the reason in a gateway's answer that declares a token dead.
    ///   - status: of the same answer.
    package init?(answer: String, status: Int) {
        if let reason = Self(name: answer), reason.isGateways {
            self = reason
        } else if status == 410 {
            self = .unregistered
        } else {
            return nil
        }
    }

    private var isGateways: Bool { self != .feedback && self != .operator }

    /// The token was good once, and is again if its app saw it registered later.
    package var yieldsToRegistration: Bool {
        switch self {
        case .unregistered, .expiredToken, .feedback: true
        case .badDeviceToken, .deviceTokenNotForTopic, .invalidToken, .invalidTokenSize, .operator: false
        }
    }

    /// What yields to a registration does not take the place of what does not.
    package func mayReplace(_ old: SuppressionReason) -> Bool {
        !yieldsToRegistration || old.yieldsToRegistration
    }

    /// What a gateway says to every token of another environment, too.
    package var mayBeEnvironment: Bool { self == .badDeviceToken || self == .invalidToken }
}
