/// What the debug data of a GOAWAY says: a reason in JSON as a rule, sometimes text, sometimes nothing.
package enum GoAwayNote: Hashable, Sendable {
    case reason(String)
    case text(String)
    case nothing

    /// The longest text that is kept, in bytes of UTF-8.
    package static let longestText = 200

    package init(debugData: UnsafeRawBufferPointer) {
        if let reason = AnswerBody(debugData)?.reason {
            self = .reason(reason)
            return
        }
        let start = UnsafeRawBufferPointer(rebasing: debugData.prefix(Self.longestText))
        let text = String(decoding: start, as: UTF8.self).truncated(toBytes: Self.longestText)
        let isBlank = text.unicodeScalars.allSatisfy { $0.properties.isWhitespace || $0.value < 0x20 }
        self = isBlank ? .nothing : .text(text)
    }

    /// The words for a log or a report; "GOAWAY" if there are none.
    package var words: String {
        switch self {
        case .reason(let words), .text(let words): words
        case .nothing: "GOAWAY"
        }
    }

    /// What the note means for the connection and its credentials.
    ///
    /// A reason that is about single pushes says why the gateway had enough, and nothing about the pushes in flight.
    package var verdict: Verdict {
        guard case .reason(let words) = self, let known = Reason(rawValue: words) else {
            return .connectionOver(reason: words)
        }
        let verdict = Verdict(known: known, words: words, timestamp: nil)
        switch verdict {
        case .credentialsWrong, .credentialsStale, .authenticationSlow, .configurationWrong, .serverTrouble:
            return verdict
        case .delivered, .tokenInvalid, .requestWrong, .throttled, .outcomeUnknown, .processingFailed,
            .connectionOver:
            return .connectionOver(reason: words)
        }
    }
}
