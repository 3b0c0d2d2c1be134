import FarmLogging
import PushModel
import StoreProtocol

/// A dead letter with its decoded pushes.
struct DecodedDeadLetter {
    let app: String
    let letter: DeadLetter
    let batch: Batch

    var jobPart: Batch.JobPart { batch.jobParts[0] }

    /// Returns nil when the dead letter cannot be decoded.
    init?(_ letter: DeadLetter, app: String) {
        guard let batch = try? Batch(decoding: letter.body), batch.jobParts.count == 1 else { return nil }
        (self.app, self.letter, self.batch) = (app, letter, batch)
    }

    init(readable letter: DeadLetter, app: String) throws(CommandFailure) {
        guard let decoded = DecodedDeadLetter(letter, app: app) else {
            throw .failed("the dead letter \(letter.id) of \(app) cannot be read")
        }
        self = decoded
    }

    func token(of push: Batch.Push) -> String { Hexadecimal.text(of: batch.bytes[push.token]) }

    /// The payload on one line. A space replaces each line break, which in JSON is only white space outside of strings.
    private func payload(of push: Batch.Push) -> String {
        String(decoding: batch.bytes[push.payload].map { $0 == 10 || $0 == 13 ? 32 : $0 }, as: UTF8.self)
    }

    private var cause: String { batch.text(jobPart.cause) }

    private var options: JSONValue {
        .object(jobPart.options.jsonFields().map { .init(name: $0.name, value: $0.value) })
    }

    var json: JSONValue {
        .object([
            "id": .string(letter.id.description), "app": .string(app), "job": .string(letter.job),
            "reason": .string(letter.reason), "status": .number(letter.status), "cause": .string(cause),
            "attempts": .number(Int(jobPart.attempt)), "at": .number(letter.id.milliseconds),
            "options": options,
            "pushes": .array(
                batch.pushes.map { push in
                    .object(["token": .string(token(of: push)), "payload": .verbatim(payload(of: push))])
                }),
        ])
    }

    /// One JSON document per push.
    var lines: [JSONValue] {
        batch.pushes.map { push in
            .object([
                "token": .string(token(of: push)), "payload": .verbatim(payload(of: push)),
                "options": options, "reason": .string(letter.reason), "status": .number(letter.status),
                "cause": .string(cause), "attempts": .number(Int(jobPart.attempt)),
                "at": .number(letter.id.milliseconds), "app": .string(app), "job": .string(letter.job),
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
        row("attempts", "\(jobPart.attempt)")
        for field in jobPart.options.jsonFields() { row(field.name, "\(field.value)") }
        if !jobPart.hasPayloadPerPush { row("payload", payload(of: batch.pushes[0])) }
        row("pushes", Figures.grouped(batch.pushes.count))
        var text = table.text(style)
        for push in batch.pushes {
            text += token(of: push)
            if jobPart.hasPayloadPerPush { text += "  " + PlainText.of(payload(of: push)) }
            text += "\n"
        }
        return text
    }
}

extension PushOptions {
    /// The options of the pushes, in the form of the fields of a job.
    /// - Parameter ttl: the time to live in seconds from now, which replaces the expiration.
    func jsonFields(ttl: Int? = nil) -> [(name: String, value: JSONValue)] {
        jobFields(ttl: ttl).map { field in
            switch field.value {
            case .text(let text): (field.name, .string(text))
            case .number(let number): (field.name, .number(number))
            }
        }
    }
}
