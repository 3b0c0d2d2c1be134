import Foundation

/// A job as its producer writes it.
package struct Job {
    package var id: String
    package var tokens: [String]
    package var payload: String
    /// More fields, as JSON without braces.
    package var fields: String

    package init(
        id: String, tokens: [String], payload: String = #"{"aps":{"alert":"Hi"}}"#, fields: String = ""
    ) {
        self.id = id
        self.tokens = tokens
        self.payload = payload
        self.fields = fields
    }

    package var text: String {
        let list = tokens.map { "\"\($0)\"" }.joined(separator: ",")
        let more = fields.isEmpty ? "" : "," + fields
        return #"{"id":"\#(id)","tokens":[\#(list)],"payload":\#(payload)\#(more)}"#
    }

    /// Tokens in jobs of `size`.
    package static func several(_ name: String, _ tokens: [String], size: Int, fields: String = "") -> [Job] {
        stride(from: 0, to: tokens.count, by: size).map { start in
            Job(
                id: "\(name)-\(start)", tokens: Array(tokens[start..<min(start + size, tokens.count)]),
                fields: fields)
        }
    }
}
