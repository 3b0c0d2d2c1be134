/// A record in a shard's suppression list. A record suppresses a token, or removes the token from the list.
///
/// Big-endian: letter `UInt8` (a ``SuppressionReason``, or "-" for a removal), scope `UInt32`
/// (``SuppressionScope/number``), time `UInt32`, token.
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

    /// Returns nil if the record is damaged, or a newer version wrote it.
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
    /// Status 8 of the binary interface.
    case invalidToken = 0x49  // I
    /// Status 5 of the binary interface.
    case invalidTokenSize = 0x53  // S
    /// The feedback service reported the token.
    case feedback = 0x46  // F
    /// An operator suppressed the token.
    case `operator` = 0x4F  // O

    /// The name in lists and events: the gateway's own word if the gateway has a word for the reason.
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
    ///   - response: the reason in a gateway's response that reports the token.
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
    /// A reason that a later registration ends must not replace a reason that a registration does not end.
    package func mayReplace(_ old: SuppressionReason) -> Bool {
        !yieldsToRegistration || old.yieldsToRegistration
    }

    /// Whether the token may be valid in another environment. Gateways refuse such a token with the same reason as an invalid token.
    package var mayBeEnvironment: Bool { self == .badDeviceToken || self == .invalidToken }
}

/// The scope of a suppression: a topic in one environment of an app. In another scope the token may be valid.
package struct SuppressionScope: Hashable, Sendable {
    /// The environment, without spaces: `production`, `sandbox`, or a gateway's host and port.
    package let environment: String
    /// The topic; may be empty.
    package let topic: String

    package init(environment: String, topic: String) {
        (self.environment, self.topic) = (environment, topic)
    }

    /// Reads ``text``; nil if it has no space.
    package init?(text: some StringProtocol) {
        guard let space = text.firstIndex(of: " ") else { return nil }
        environment = String(text[..<space])
        topic = String(text[text.index(after: space)...])
    }

    package var text: String { "\(environment) \(topic)" }

    /// The number for this scope in records: the low 32 bits of the XXH64, seed 0, of its text.
    package var number: UInt32 { UInt32(truncatingIfNeeded: XXH64.hash(Array(text.utf8), seed: 0)) }
}
