/// What the body of a refusal says: `{"reason": "…", "timestamp": …}`.
package struct AnswerBody: Hashable, Sendable {
    /// The longest reason that is kept, in bytes of UTF-8; APNs's own have fewer than 30.
    package static let longestReason = 100

    package let reason: String?
    /// Milliseconds since 1970.
    package let timestamp: Int64?

    /// Reads a body; other keys are skipped, whatever they hold.
    ///
    /// - Returns: nil unless `bytes` is one JSON object with a reason or a timestamp.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        var reader = JSONReader(bytes)
        var reason: String?
        var timestamp: Int64?
        while let (key, value) = reader.nextMember() {
            switch (key, value) {
            case ("reason", .string(let text)): reason = text.cut(toBytes: Self.longestReason)
            case ("timestamp", .number(let number)): timestamp = number
            default: break
            }
        }
        guard reader.isComplete, reason != nil || timestamp != nil else { return nil }
        self.reason = reason
        self.timestamp = timestamp
    }

    /// The body with which a gateway refuses a push.
    package static func write(_ reason: Reason, timestamp: Int64?) -> [UInt8] {
        let timestamp = timestamp.map { #","timestamp":\#($0)"# } ?? ""
        return Array(#"{"reason":"\#(reason.rawValue)"\#(timestamp)}"#.utf8)
    }
}
