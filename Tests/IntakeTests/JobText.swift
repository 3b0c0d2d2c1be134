import PushModel

/// The text of a job as a producer writes it.
struct JobText {
    var id: String?
    var tokens: [String] = []
    var payload = #"{"aps":{"alert":"Hi"}}"#
    /// If set, the job has one payload for each token, in the order of the tokens.
    var payloads: [String]?
    /// If set, `payload` is a template, and the job has one push for each token. An element is JSON text with the further
    /// fields of a push, such as `values`.
    var personal: [String]?
    var fields = ""

    static let now: Int64 = 1_780_000_000

    var bytes: [UInt8] {
        var text = "{"
        if let id { text += #""id":"\#(id)","# }
        text += fields
        if let personal {
            let pushes = zip(tokens, personal).map { #"{"token":"\#($0)",\#($1)}"# }
            text += #""payload":\#(payload),"pushes":[\#(pushes.joined(separator: ","))]}"#
        } else if let payloads {
            let pushes = zip(tokens, payloads).map { #"{"token":"\#($0)","payload":\#($1)}"# }
            text += #""pushes":[\#(pushes.joined(separator: ","))]}"#
        } else {
            let list = tokens.map { "\"\($0)\"" }.joined(separator: ",")
            text += #""payload":\#(payload),"tokens":[\#(list)]}"#
        }
        return Array(text.utf8)
    }

    func parsed(now: Int64 = Self.now) throws -> ParsedJob {
        try JobParser.parse(bytes, app: "demo", topic: "com.example.demo", now: now)
    }

    static func token(_ number: Int, bytes: Int = 32) -> String {
        var text = String(number, radix: 16)
        while text.utf8.count < 2 * bytes { text = "0" + text }
        return text
    }
}
