/// A record in a shard's suppression list. A record suppresses a token, or removes the token from the list.
///
/// The bytes of a record are one letter (a ``SuppressionReason``, or "-" for a removal), the scope as a big-endian `UInt32`
/// (``SuppressionScope/number``), the time as a big-endian `UInt32`, and the token.
package struct SuppressionRecord: Hashable, Sendable {
    /// The reason; nil if the record removes the token from the list.
    package var reason: SuppressionReason?
    package var scope: UInt32
    /// Unix seconds since which the token is unregistered or invalid.
    package var time: UInt32
    package var token: ArraySlice<UInt8>

    package init(reason: SuppressionReason?, scope: UInt32, time: Int64, token: ArraySlice<UInt8>) {
        self.reason = reason
        self.scope = scope
        self.time = UInt32(clamping: time)
        self.token = token
    }

    private static let head = 9
    private static let removal = UInt8(ascii: "-")

    package var bytes: [UInt8] {
        var bytes: [UInt8] = [reason?.rawValue ?? Self.removal]
        bytes.reserveCapacity(Self.head + token.count)
        bytes.appendBigEndian(scope)
        bytes.appendBigEndian(time)
        bytes.append(contentsOf: token)
        return bytes
    }

    /// Returns nil if the record is damaged or has an unknown letter, for example from a newer version.
    package init?(decoding bytes: [UInt8]) {
        guard bytes.count > Self.head else { return nil }
        reason = SuppressionReason(rawValue: bytes[0])
        guard reason != nil || bytes[0] == Self.removal else { return nil }
        scope = bytes[1..<5].reduce(0) { $0 << 8 | UInt32($1) }
        time = bytes[5..<Self.head].reduce(0) { $0 << 8 | UInt32($1) }
        token = bytes[Self.head...]
    }
}

/// Why a token is suppressed. The raw value is the reason's letter in records.
package enum SuppressionReason: UInt8, NamedCase, Sendable {
    case badDeviceToken = 0x42  // B
    case deviceTokenNotForTopic = 0x54  // T
    case unregistered = 0x55  // U
    case expiredToken = 0x45  // E
    /// Status 8 of Apple's binary interface.
    case invalidToken = 0x49  // I
    /// Status 5 of Apple's binary interface.
    case invalidTokenSize = 0x53  // S
    /// The feedback service reported the token.
    case feedback = 0x46  // F
    /// An operator suppressed the token.
    case `operator` = 0x4F  // O

    /// Whether a stored device loses a token that is suppressed for this reason. Pushes to stored devices ignore these reasons: a
    /// device that registers again gets pushes again.
    package var isKnownToRegistry: Bool { self != .deviceTokenNotForTopic && self != .operator }

    /// The name of the reason in lists and events. If the gateway has a word for the reason, the name is the gateway's word.
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

    /// - Parameters:
    ///   - response: the reason that a gateway's response gives for refusing the token.
    ///   - status: the response's status.
    package init?(response: String, status: Int) {
        if let reason = Self(name: response), reason.isGateways {
            self = reason
        } else if status == 410 {
            self = .unregistered
        } else {
            return nil
        }
    }

    private var isGateways: Bool { self != .feedback && self != .operator }

    /// Whether a later registration of the token ends the suppression.
    package var yieldsToRegistration: Bool {
        switch self {
        case .unregistered, .expiredToken, .feedback: true
        case .badDeviceToken, .deviceTokenNotForTopic, .invalidToken, .invalidTokenSize, .operator: false
        }
    }

    /// Whether this reason may replace an older reason.
    /// A reason that yields to a registration must not replace a reason that does not: otherwise a registration would end a
    /// suppression that it must not end.
    package func mayReplace(_ old: SuppressionReason) -> Bool {
        !yieldsToRegistration || old.yieldsToRegistration
    }

    /// Whether the token may be valid in another environment.
    ///
    /// Gateways give these reasons both for invalid tokens and for tokens of another environment.
    package var mayBeEnvironment: Bool { self == .badDeviceToken || self == .invalidToken }
}

/// The scope of a suppression: a topic in one environment of an app. A token that is suppressed in one scope may be valid in
/// another scope.
package struct SuppressionScope: Hashable, Sendable {
    /// The environment, without spaces: `production`, `sandbox`, or a gateway's host and port.
    package let environment: String
    /// The topic, which may be empty.
    package let topic: String

    package init(environment: String, topic: String) {
        (self.environment, self.topic) = (environment, topic)
    }

    /// Reads the text of a scope (``text``); nil if the argument contains no space.
    package init?(text: some StringProtocol) {
        guard let space = text.firstIndex(of: " ") else { return nil }
        environment = String(text[..<space])
        topic = String(text[text.index(after: space)...])
    }

    package var text: String { "\(environment) \(topic)" }

    /// The number of this scope in records: the low 32 bits of the XXH64 hash of ``text`` with the seed 0.
    package var number: UInt32 { UInt32(truncatingIfNeeded: XXH64.hash(Array(text.utf8), seed: 0)) }
}
