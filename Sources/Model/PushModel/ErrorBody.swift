/// What a gateway says in the body of a refusal: `{"reason":"…","timestamp":…}`. Copies nothing.
package struct ErrorBody: Hashable, Sendable {
    package let reason: JSONString?
    /// Unix milliseconds.
    package let timestamp: Int64?

    /// - Returns: nil unless `bytes` is one JSON object; members of other names or kinds are passed over.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        var scanner = JSONScanner(bytes)
        var reason: JSONString?
        var timestamp: Int64?
        do {
            try scanner.start()
            try scanner.enterObject()
            while let key = try scanner.nextKey() {
                let kind = try scanner.kind()
                if kind == .string, scanner.matches(key, "reason") {
                    reason = try scanner.string()
                } else {
                    let value = try scanner.skipValue()
                    if kind == .number, scanner.matches(key, "timestamp") {
                        timestamp = scanner.integer(in: value).map { Int64(foreign: $0) }
                    }
                }
            }
            try scanner.end()
        } catch {
            return nil
        }
        self.reason = reason
        self.timestamp = timestamp
    }
}
