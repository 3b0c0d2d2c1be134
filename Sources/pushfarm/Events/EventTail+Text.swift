import FarmLogging
import StoreProtocol

extension EventTail.Line {
    /// With the fields as they are in the stream.
    var json: JSONValue {
        var fields = app.map { [JSONValue.Field(name: "app", value: .string($0))] } ?? []
        fields.append(.init(name: "id", value: .string(event.id.description)))
        // A command has an id of its own.
        fields += event.fields.map {
            .init(name: $0.name == "id" ? "operation" : $0.name, value: .string($0.value))
        }
        return .object(fields)
    }

    func text(_ colours: Bool) -> String {
        let type = event.type
        let moment = event["at"].flatMap { Int64(foreign: $0) } ?? event.id.milliseconds
        let paint = Self.paint(type)
        var text = Paint.dim.on("\(Timestamp(milliseconds: moment))", if: colours)
        if let app { text += "  \(PlainText.of(app))" }
        text += "  " + (paint?.on(PlainText.of(type), if: colours) ?? PlainText.of(type))
        for field in event.fields where !["type", "verb", "at", "ends"].contains(field.name) {
            // A command's words stand in lines.
            let words =
                field.name == "arguments" ? String(field.value.map { $0 == "\n" ? " " : $0 }) : field.value
            let value = PlainText.of(words, limit: 300)
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

extension EventEntry {
    /// An event's type; an operator's word, or `answer`.
    var type: String { self["type"] ?? self["verb"] ?? (self["of"] == nil ? "?" : "answer") }
}
