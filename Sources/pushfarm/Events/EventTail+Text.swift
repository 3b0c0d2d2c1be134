import FarmLogging
import StoreProtocol

extension EventTail.Line {
    /// With the fields as they are in the stream.
    var json: JSONValue {
        var fields = app.map { [JSONValue.Field(name: "app", value: .string($0))] } ?? []
        fields.append(.init(name: "id", value: .string(event.id.description)))
        if let command = event.typedCommand {
            fields.append(.init(name: "command", value: .string(command)))
        }
        for field in event.fields {
            switch field.name {
            // A command has an id of its own.
            case "id": fields.append(.init(name: "operation", value: .string(field.value)))
            // The command line has them.
            case "verb", "arguments": continue
            default: fields.append(.init(name: field.name, value: .string(field.value)))
            }
        }
        return .object(fields)
    }

    func text(_ colours: Bool) -> String {
        let type = event.type
        let moment = event["at"].flatMap { Int64(foreign: $0) } ?? event.id.milliseconds
        let paint = Self.paint(type)
        // The command line says these already.
        let said = event.typedCommand == nil ? [] : ["arguments", "host", "dry_run"]
        var text = Paint.dim.on("\(Timestamp(milliseconds: moment))", if: colours)
        if let app { text += "  \(PlainText.of(app))" }
        let subject = PlainText.of(event.typedCommand ?? type, limit: 300)
        text += "  " + (paint?.on(subject, if: colours) ?? subject)
        for field in event.fields where !(["type", "verb", "at", "ends"] + said).contains(field.name) {
            let value = PlainText.of(field.value, limit: 300)
            text +=
                " \(PlainText.of(field.name))="
                + (value.contains { " \"".contains($0) } ? JSONValue.string(value).description : value)
        }
        return text
    }

    private static func paint(_ type: String) -> Paint? {
        switch type {
        case "push.failed", "job.refused", "job.truncated", "app.paused", "admission.closed", "job.paused",
            "batch.quarantined", "shard.quarantined", "data.unreadable", "gateway.late":
            .red
        case "push.delivered", "job.finished", "app.resumed", "admission.opened", "job.resumed": .green
        case "token.invalid", "token.malformed", "push.expired", "job.duplicate": .yellow
        default: nil
        }
    }
}
