import PushModel

/// What the body of a refusal says: `{"reason": "…", "timestamp": …}`.
package struct AnswerBody: Hashable, Sendable {
    /// The longest reason that is kept, in bytes of UTF-8; APNs's own have fewer than 30.
    package static let longestReason = 100

    /// Never empty.
    package let reason: String?
    /// Milliseconds since 1970.
    package let timestamp: Int64?

    /// - Returns: nil unless `bytes` is one JSON object with a reason or a timestamp; other members are
    ///   passed over, and so is an empty reason.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard let body = ErrorBody(bytes) else { return nil }
        let text = body.reason.map { JSONScanner(bytes).text($0).cut(toBytes: Self.longestReason) } ?? ""
        guard !text.isEmpty || body.timestamp != nil else { return nil }
        reason = text.isEmpty ? nil : text
        timestamp = body.timestamp
    }

    /// The gateway cannot have written the body: it writes none, or one JSON object.
    package static func isForeign(_ bytes: UnsafeRawBufferPointer) -> Bool {
        !bytes.isEmpty && ErrorBody(bytes) == nil
    }

    /// The body with which a gateway refuses a push.
    package static func write(_ reason: Reason, timestamp: Int64?) -> [UInt8] {
        let timestamp = timestamp.map { #","timestamp":\#($0)"# } ?? ""
        return Array(#"{"reason":"\#(reason.rawValue)"\#(timestamp)}"#.utf8)
    }
}
