import FarmLogging
import PushModel
import StoreProtocol

/// A dead letter taken apart: what it says of each push.
struct DecodedDeadLetter {
    let app: String
    let letter: DeadLetter
    let batch: Batch

    private var segment: Batch.Segment { batch.segments[0] }

    /// Nil when it cannot be read.
    init?(_ letter: DeadLetter, app: String) {
        guard let batch = try? Batch(decoding: letter.body), batch.segments.count == 1 else { return nil }
        (self.app, self.letter, self.batch) = (app, letter, batch)
    }

    var cause: String { batch.text(segment.cause) }
    var attempts: Int { Int(segment.attempt) }

    /// The tokens, as lower-case hex.
    var tokens: [String] { batch.pushes.map { Hexadecimal.text(of: batch.bytes[$0.token]) } }

    private var options: JSONValue {
        .object(ReplayJob.fields(of: segment.options).map { .init(name: $0.name, value: $0.value) })
    }

    /// On one line: what ends lines in JSON is white space between its parts.
    private func payload(of push: Batch.Push) -> String {
        String(decoding: batch.bytes[push.payload].map { $0 == 10 || $0 == 13 ? 32 : $0 }, as: UTF8.self)
    }

    var json: JSONValue {
        .object([
            "id": .string(letter.id.description), "app": .string(app), "job": .string(letter.job),
            "reason": .string(letter.reason), "status": .number(letter.status), "cause": .string(cause),
            "attempts": .number(attempts), "at": .number(letter.id.milliseconds), "options": options,
            "pushes": .array(
                batch.pushes.map { push in
                    .object([
                        "token": .string(Hexadecimal.text(of: batch.bytes[push.token])),
                        "payload": .verbatim(payload(of: push)),
                    ])
                }),
        ])
    }

    /// A document for each push.
    var lines: [JSONValue] {
        batch.pushes.map { push in
            .object([
                "token": .string(Hexadecimal.text(of: batch.bytes[push.token])),
                "payload": .verbatim(payload(of: push)),
                "options": options, "reason": .string(letter.reason), "status": .number(letter.status),
                "cause": .string(cause), "attempts": .number(attempts), "at": .number(letter.id.milliseconds),
                "app": .string(app), "job": .string(letter.job),
                "dead_letter": .string(letter.id.description),
            ])
        }
    }

    func text(_ style: TextStyle) -> String {
        var table = Table(["": .left, "": .left])
        func row(_ name: String, _ value: String, _ paint: Paint? = nil) {
            table.add(.init(name, .dim), .init(PlainText.of(value), paint))
        }
        row("app", app)
        row("job", letter.job)
        row("reason", letter.reason + (letter.status == 0 ? "" : " (\(letter.status))"), .red)
        if !cause.isEmpty { row("cause", cause) }
        row("at", "\(Timestamp(milliseconds: letter.id.milliseconds))")
        row("attempts", "\(attempts)")
        for field in ReplayJob.fields(of: segment.options) { row(field.name, "\(field.value)") }
        if !segment.hasPayloadPerPush { row("payload", payload(of: batch.pushes[0])) }
        row("pushes", Figures.grouped(batch.pushes.count))
        var text = table.text(style)
        for push in batch.pushes {
            text += Hexadecimal.text(of: batch.bytes[push.token])
            if segment.hasPayloadPerPush { text += "  " + PlainText.of(payload(of: push)) }
            text += "\n"
        }
        return text
    }
}
