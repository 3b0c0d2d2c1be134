import PushModel

/// A job as `pushfarm push` composes it. A nil field gets the farm's default.
struct JobDraft {
    /// What the recipients of a job are. The raw value is the job's field.
    enum Recipients: String {
        case tokens, users, devices
    }

    var id: String
    var kind = Recipients.tokens
    /// Tokens, or ids of users or devices.
    var recipients: [Substring] = []
    /// The payload as JSON, written unchanged.
    var payload: String
    /// Fields other than id, recipients and payload, in order.
    var fields: [(name: String, value: JSONValue)] = []

    /// The text of the job for the inbox.
    var text: String {
        var text = JSONText(capacity: recipients.count * 68 + payload.utf8.count + 512)
        text.object { text in
            text.member("id", id)
            text.key(kind.rawValue)
            text.array { text in
                for recipient in recipients { text.value(String(recipient)) }
            }
            text.member("payload", json: payload.utf8)
            for field in fields {
                text.key(field.name)
                field.value.append(to: &text)
            }
        }
        return text.string
    }

    /// Splits a large job into jobs of at most `limit` recipients, with the ids `id.1`, `id.2` and so on. A small job
    /// stays unchanged.
    func split(limit: Int) -> [JobDraft] {
        guard recipients.count > limit else { return [self] }
        return stride(from: 0, to: recipients.count, by: limit).enumerated().map { number, start in
            var part = self
            part.id = "\(id).\(number + 1)"
            part.recipients = Array(recipients[start..<min(start + limit, recipients.count)])
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
