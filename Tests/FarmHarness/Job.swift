import Foundation

/// A job as its producer writes it.
struct Job {
    var id: String
    var tokens: [String]
    var payload = #"{"aps":{"alert":"Hi"}}"#
    /// More fields, as JSON without braces.
    var fields = ""

    var text: String {
        let list = tokens.map { "\"\($0)\"" }.joined(separator: ",")
        let more = fields.isEmpty ? "" : "," + fields
        return #"{"id":"\#(id)","tokens":[\#(list)],"payload":\#(payload)\#(more)}"#
    }

    /// Tokens in jobs of `size`.
    static func several(_ name: String, _ tokens: [String], size: Int, fields: String = "") -> [Job] {
        stride(from: 0, to: tokens.count, by: size).map { start in
            Job(
                id: "\(name)-\(start)", tokens: Array(tokens[start..<min(start + size, tokens.count)]),
                fields: fields)
        }
    }
}
