import Foundation

/// A job in the form that a producer writes.
package struct Job {
    package var id: String
    package var tokens: [String]
    package var payload: String
    /// More fields of the job: JSON without braces.
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

    /// Splits tokens into several jobs of `size` pushes.
    package static func several(_ name: String, _ tokens: [String], size: Int, fields: String = "") -> [Job] {
        stride(from: 0, to: tokens.count, by: size).map { start in
            Job(
                id: "\(name)-\(start)", tokens: Array(tokens[start..<min(start + size, tokens.count)]),
                fields: fields)
        }
    }
}
