import PushModel

/// What the body of a refusal says: `{"reason": "…", "timestamp": …}`.
package struct AnswerBody: Hashable, Sendable {
    /// The longest reason that is kept, in bytes of UTF-8; APNs's own have fewer than 30.
    package static let longestReason = 100

    package let reason: String?
    /// Milliseconds since 1970.
    package let timestamp: Int64?

    /// - Returns: nil unless `bytes` is one JSON object with a reason or a timestamp; other members are
    ///   passed over.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard let body = ErrorBody(bytes), body.reason != nil || body.timestamp != nil else { return nil }
        reason = body.reason.map { JSONScanner(bytes).text($0).cut(toBytes: Self.longestReason) }
        timestamp = body.timestamp
    }

    /// The body with which a gateway refuses a push.
    package static func write(_ reason: Reason, timestamp: Int64?) -> [UInt8] {
        let timestamp = timestamp.map { #","timestamp":\#($0)"# } ?? ""
        return Array(#"{"reason":"\#(reason.rawValue)"\#(timestamp)}"#.utf8)
    }
}
