import ControlChannel
import FarmLogging
import PushModel
import StoreProtocol

extension EventTail.Line {
    /// The entry with its fields as they are in the stream.
    var json: JSONValue {
        var fields: [(name: String, value: String)] = app.map { [("app", $0)] } ?? []
        fields.append(("id", event.id.description))
        if let command = event.typedCommand { fields.append(("command", command)) }
        // Leave out the verb and the arguments, which the field `command` already contains. The id of the command
        // becomes the field `operation`, because the field `id` has the id of the stream entry.
        for field in event.fields where !["verb", "arguments"].contains(field.name) {
            fields.append((field.name == "id" ? "operation" : field.name, field.value))
        }
        return .object(fields.map { .init(name: $0.name, value: .string($0.value)) })
    }

    func text(_ colours: Bool) -> String {
        let type = event.type
        let moment = event["at"].flatMap { Int64(foreign: $0) } ?? event.id.milliseconds
        let paint = Self.paint(type)
        // The command line already shows these fields.
        let said = event.typedCommand == nil ? [] : ["arguments", "host", "dry_run"]
        var text = Paint.dim.on("\(Timestamp(milliseconds: moment))", if: colours)
        if let app { text += "  \(PlainText.of(app))" }
        let subject = PlainText.of(event.typedCommand ?? type, limit: 300)
        text += "  " + (paint?.on(subject, if: colours) ?? subject)
        for field in event.fields
        where !(["type", "verb", "at", "start_deadline"] + said).contains(field.name) {
            let value = PlainText.of(field.value, limit: 300)
            text +=
                " \(PlainText.of(field.name))="
                + (value.contains { " \"".contains($0) } ? JSONValue.string(value).description : value)
        }
        return text
    }

    private static func paint(_ type: String) -> Paint? {
        switch type {
        case "push.failed", "job.refused", "job.pushes_failed", "app.paused", "admission.closed",
            "job.paused", "job.quarantined",
            "batch.quarantined", "shard.quarantined", "data.unreadable", "gateway.delivered_lost":
            .red
        case "push.delivered", "job.finished", "app.resumed", "admission.opened", "job.resumed": .green
        case "token.invalid", "token.malformed", "push.expired", "push.capped", "job.duplicate",
            "job.cancel_refused":
            .yellow
        default: nil
        }
    }
}

extension OperatorCommand {
    /// The command as a command line without `pushfarm`, for example `shards move 7 beta` or `restart alpha/1`.
    var typed: String {
        let words: [String]
        switch OperatorVerb(rawValue: verb) {
        case .refresh: words = arguments
        // A command that is not sent to the hosts has all further words in its arguments.
        case nil: words = [verb] + arguments
        case .scale, .logLevel: words = [shownVerb] + arguments + [host ?? "all"]
        case .takeover:
            words =
                [shownVerb] + arguments.dropFirst().prefix(1) + ["--app", arguments.first ?? ""]
                + ["--host", host ?? "all"] + arguments.dropFirst(2)
        default:
            let worker = arguments.first.flatMap { Int(foreign: $0) }
            words =
                [shownVerb, (host ?? "all") + (worker.map { "/\($0)" } ?? "")]
                + arguments.dropFirst(worker == nil ? 0 : 1)
        }
        return (words + (isDryRun ? ["--dry-run"] : [])).joined(separator: " ")
    }

    private var shownVerb: String {
        switch OperatorVerb(rawValue: verb) {
        case .takeover, .kill, .purge, .dump, .logLevel: "debug " + verb
        case .stop where arguments.contains("--and-exit"): OperatorVerb.drain.rawValue
        default: verb
        }
    }
}

extension EventEntry {
    /// The type of an event, or the name of an operator's command, or `answer` for a host's reply.
    var type: String {
        if let type = self["type"] { return type }
        guard let verb = self["verb"] else { return self["of"] == nil ? "?" : "answer" }
        guard verb == OperatorVerb.refresh.rawValue else { return verb }
        return self["arguments"].map { String($0.prefix { $0 != "\n" }) } ?? verb
    }

    /// The command line of an entry of the audit log, or nil when the entry is an event or a host's reply.
    var typedCommand: String? {
        guard let verb = self["verb"] else { return nil }
        let host = self["host"]
        return OperatorCommand(
            id: self["id"] ?? "", issuer: self["by"] ?? "", host: host == "*" ? nil : host, verb: verb,
            arguments: self["arguments"]?.split(separator: "\n").map(String.init) ?? [],
            isDryRun: self["dry_run"] == "1"
        ).typed
    }
}
