import APNs
import PushModel

extension FuzzTarget {
    /// The body of a gateway's response.
    static let response = FuzzTarget(
        "answer",
        words: [
            "{\"reason\":\"", "\"timestamp\":", "BadDeviceToken", "Unregistered", "ExpiredProviderToken",
            "\"}", "\\ud83d",
            "\\ude00", "\\u0000", "1780000000000", "-9223372036854775808", "1e400", ",", ":", "[[[[[[[[",
            "{}", "null",
        ], longestInput: 1024
    ) { bytes throws(Violation) in
        let (body, isJSON) = bytes.withUnsafeBytes { raw in
            (ErrorBody(raw), (try? JSONScanner.validate(raw)) != nil)
        }
        if isJSON { _ = try ReferenceJSON(accepted: bytes) }
        guard let body else { return }
        let reference = try ReferenceJSON(accepted: bytes)
        try Violation.unless(isJSON, "no JSON, and yet a reason")
        if let reason = body.reason {
            try Violation.unless(reason.utf8.count <= ErrorBody.longestReason, "a reason beyond its bound")
            if let whole = reference?["reason"]?.string {
                try Violation.unless(
                    whole.hasPrefix(reason) || whole.utf8.starts(with: reason.utf8), "another reason")
            }
        }
        for status in [-1, 0, 299, 400, 403, 410, 429, 500, 503, 999] {
            let verdict = Verdict(status: status, reason: body.reason, timestamp: body.timestamp)
            try Violation.unless(!verdict.reason.isEmpty, "\(status) is \(verdict)")
        }
    }
}
