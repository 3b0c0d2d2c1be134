import PushModel

/// The body of an APNs response that refuses a push: `{"reason": "…", "timestamp": …}`.
package struct ErrorBody: Hashable, Sendable {
    /// The longest reason that is kept, in bytes of UTF-8. All reasons of APNs are shorter than 30 bytes.
    package static let longestReason = 100

    /// The gateway's reason, never empty; nil if the body has no reason.
    package let reason: String?
    /// When the token became invalid, in milliseconds since 1970; nil if the body has no timestamp.
    package let timestamp: Int64?

    /// Reads a body. Ignores unknown members, members with a value of another type, and an empty reason.
    ///
    /// - Returns: nil if `bytes` is not a JSON object, or has neither a reason nor a timestamp.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard let members = Self.members(of: bytes) else { return nil }
        let text = members.reason?.truncated(toBytes: Self.longestReason) ?? ""
        guard !text.isEmpty || members.timestamp != nil else { return nil }
        reason = text.isEmpty ? nil : text
        timestamp = members.timestamp
    }

    /// Whether the body cannot come from the gateway. The gateway sends either no body or one JSON object.
    package static func isForeign(_ bytes: UnsafeRawBufferPointer) -> Bool {
        !bytes.isEmpty && members(of: bytes) == nil
    }

    /// - Returns: the reason and the timestamp; nil if `bytes` is not a JSON object.
    private static func members(of bytes: UnsafeRawBufferPointer) -> (reason: String?, timestamp: Int64?)? {
        var scanner = JSONScanner(bytes)
        var reason: String?
        var timestamp: Int64?
        do {
            try scanner.start()
            try scanner.enterObject()
            while let key = try scanner.nextKey() {
                let kind = try scanner.kind()
                if kind == .string, scanner.matches(key, "reason") {
                    reason = scanner.text(try scanner.string())
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
        return (reason, timestamp)
    }

    /// Returns the body of a response that refuses a push.
    package static func write(_ reason: Reason, timestamp: Int64?) -> [UInt8] {
        let timestamp = timestamp.map { #","timestamp":\#($0)"# } ?? ""
        return Array(#"{"reason":"\#(reason.rawValue)"\#(timestamp)}"#.utf8)
    }
}

/// The debug data of a GOAWAY frame: usually a JSON object with a reason, sometimes other text, sometimes nothing.
package enum GoAwayReason: Hashable, Sendable {
    case reason(String)
    case text(String)
    case nothing

    /// Maximum length of a kept text, in bytes of UTF-8.
    package static let longestText = 200

    package init(debugData: UnsafeRawBufferPointer) {
        if let reason = ErrorBody(debugData)?.reason {
            self = .reason(reason)
            return
        }
        let start = UnsafeRawBufferPointer(rebasing: debugData.prefix(Self.longestText))
        let text = String(decoding: start, as: UTF8.self).truncated(toBytes: Self.longestText)
        let isBlank = text.unicodeScalars.allSatisfy { $0.properties.isWhitespace || $0.value < 0x20 }
        self = isBlank ? .nothing : .text(text)
    }

    /// The text for a log or a report; "GOAWAY" if the frame contained no text.
    package var words: String {
        switch self {
        case .reason(let words), .text(let words): words
        case .nothing: "GOAWAY"
        }
    }

    /// What the debug data means for the connection and its credentials.
    ///
    /// If the reason is about a single push, it only explains why the gateway closes the connection. It does not show
    /// the outcomes of the pushes in flight, so the verdict is ``Verdict/connectionOver(reason:)``.
    package var verdict: Verdict {
        guard case .reason(let words) = self, let known = Reason(rawValue: words) else {
            return .connectionOver(reason: words)
        }
        let verdict = Verdict(known: known, words: words, timestamp: nil)
        switch verdict {
        case .credentialsWrong, .credentialsStale, .authenticationSlow, .configurationWrong, .serverTrouble:
            return verdict
        case .tokenInvalid, .requestWrong, .throttled, .outcomeUnknown, .processingFailed, .connectionOver:
            return .connectionOver(reason: words)
        }
    }
}
