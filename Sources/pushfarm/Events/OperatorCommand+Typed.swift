import ControlChannel
import PushModel
import StoreProtocol

extension OperatorCommand {
    /// The command line that an operator typed, without `pushfarm`: `shards move 7 beta`, `restart alpha/1`.
    var typed: String {
        let words: [String]
        switch OperatorVerb(rawValue: verb) {
        case .look: words = arguments
        // Not a command to the hosts: all of it is in the arguments.
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
    /// An event's type; the command's word; or `answer`.
    var type: String {
        if let type = self["type"] { return type }
        guard let verb = self["verb"] else { return self["of"] == nil ? "?" : "answer" }
        guard verb == OperatorVerb.look.rawValue else { return verb }
        return self["arguments"].map { String($0.prefix { $0 != "\n" }) } ?? verb
    }

    /// The command line of an entry of the audit log; nil when the entry is an event or an answer.
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
