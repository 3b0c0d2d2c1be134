/// A job as `pushfarm push` composes it. What is nil is left to the farm's default.
struct JobDraft {
    var id: String
    var tokens: [Substring] = []
    /// JSON, taken as it is.
    var payload: String
    /// Fields beside id, tokens and payload, in order.
    var fields: [(name: String, value: JSONValue)] = []

    /// The job as it goes into the inbox.
    var text: String {
        var text = "{\"id\":\(JSONValue.string(id)),\"tokens\":["
        text.reserveCapacity(tokens.count * 68 + payload.utf8.count + 512)
        for (index, token) in tokens.enumerated() {
            if index > 0 { text += "," }
            text += JSONValue.string(String(token)).description
        }
        text += "],\"payload\":" + payload
        for field in fields { text += ",\"\(field.name)\":\(field.value)" }
        return text + "}"
    }

    /// The job as several of at most `limit` tokens each, numbered `id.1`, `id.2` and so on; itself if it is small.
    func split(limit: Int) -> [JobDraft] {
        guard tokens.count > limit else { return [self] }
        return stride(from: 0, to: tokens.count, by: limit).enumerated().map { number, start in
            var part = self
            part.id = "\(id).\(number + 1)"
            part.tokens = Array(tokens[start..<min(start + limit, tokens.count)])
            return part
        }
    }

    /// A new id: `cli-` and 96 random bits.
    static func freshID() -> String {
        var random = SystemRandomNumberGenerator()
        let alphabet = Array("0123456789abcdefghijklmnopqrstuv")
        return "cli-" + String((0..<20).map { _ in alphabet.randomElement(using: &random)! })
    }
}
