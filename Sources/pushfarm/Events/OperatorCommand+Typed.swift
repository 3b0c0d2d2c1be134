import ControlChannel
import PushModel
import StoreProtocol

extension OperatorCommand {
    /// The command line that an operator typed, without `pushfarm`: `shards move 7 beta`, `restart alpha/1`.
    var typed: String {
        let words: [String]
        switch OperatorVerb(rawValue: verb) {
        case .look: words = arguments
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
        default: verb
        }
    }
}

extension EventEntry {
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
