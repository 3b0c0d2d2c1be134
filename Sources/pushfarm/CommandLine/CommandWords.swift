import ArgumentParser
import PushModel

/// The words of a command line, before they are parsed.
enum CommandWords {
    /// Moves negative numbers to the end of the command line, after `--`, because the parser would take them for
    /// options. In `scale -1` and `rate demo -5/s`, the last word is a number and not an option. The words that follow
    /// the number, up to the next option, move too. A number directly after an option does not move, because it is the
    /// option's value.
    static func arranged(_ words: [String]) -> [String] {
        // The simulator takes all words unchanged.
        guard words.first != "simulator", !words.contains("--"),
            let start = words.indices.dropFirst().first(where: {
                isNumber(words[$0]) && !isOpenOption(words[$0 - 1])
            })
        else { return words }
        let end = words[start...].firstIndex { $0.first == "-" && !isNumber($0) } ?? words.endIndex
        return words[..<start] + words[end...] + ["--"] + words[start..<end]
    }

    /// The options that have no value, of all commands that accept a negative number.
    private static let flags: Set = ["--json", "--dry-run", "--wait", "--no-wait", "--local", "--force"]

    private static func isOpenOption(_ word: String) -> Bool {
        word.hasPrefix("--") && !word.contains("=") && !flags.contains(word)
    }

    /// Whether a word is a number with a minus sign.
    private static func isNumber(_ word: String) -> Bool {
        guard word.first == "-", let next = word.utf8.dropFirst().first else { return false }
        return (0x30...0x39).contains(next)
    }

    /// The error message for a first word that is not a command, or nil when it is a command or an option.
    static func problem(_ words: [String]) -> String? {
        guard let first = words.first, !first.isEmpty, !first.hasPrefix("-") else { return nil }
        let names = names(below: Pushfarm.self)
        if first == "dead", words.dropFirst().first == "retry" { return "dead retry is now replay" }
        if first == "refused", words.dropFirst().first == "retry" {
            return "refused retry is now refused resubmit"
        }
        guard !names.contains(first) else {
            return first == "push"
                ? headerComplaint(words) : subcommandComplaint(first, words.dropFirst().first)
        }
        if let new = newName(of: first, words.dropFirst().first) { return new }
        let nearest = NearestWord.find(first, among: names)
        return "there is no command \(first.prefix(40)); "
            + (nearest.map { "did you mean \($0)?" } ?? "pushfarm help all lists them")
    }

    /// The error message for an unknown subcommand, or nil when the first word has no subcommands.
    private static func subcommandComplaint(_ name: String, _ second: String?) -> String? {
        guard let second, !second.isEmpty, !second.hasPrefix("-"),
            let command = Pushfarm.configuration.subcommands.first(where: {
                $0._commandName == name || $0.configuration.aliases.contains(name)
            }), !command.configuration.subcommands.isEmpty
        else { return nil }
        let names = names(below: command)
        guard !names.contains(second) else { return nil }
        let nearest = NearestWord.find(second, among: names)
        return "there is no command \(name) \(second.prefix(40)); "
            + (nearest.map { "did you mean \(name) \($0)?" } ?? "pushfarm help \(name) lists them")
    }

    /// The present name of a command from before release 1.0, or nil when no such command existed.
    private static func newName(of old: String, _ next: String?) -> String? {
        let new: String? =
            switch (old, next) {
            case ("balance", "off"): "scale +0"
            case ("balance", _): "scale auto"
            case ("gate", _): "admission"
            case ("quarantine", "list"): "paused"
            case ("quarantine", _): "pause"
            case ("release", _): "resume (of what the farm quarantined: resume --quarantined)"
            case ("takeover", _), ("kill", _), ("purge", _), ("dump", _), ("log-level", _), ("fsck", _),
                ("feedback", _):
                "debug " + old
            default: nil
            }
        return new.map { "\(old) is now \($0)" }
    }

    /// The error message for an APNs header that is used as an option of `push`. The message names the matching
    /// job field.
    private static func headerComplaint(_ words: [String]) -> String? {
        for word in words where word.hasPrefix("--") {
            let name = word.dropFirst(2).prefix { $0 != "=" }
            let options = JobSchema.fields(ofHeader: String(name)).map { field in
                "--" + String(field.map { $0 == "_" ? "-" : $0 })
            }
            guard !options.isEmpty else { continue }
            return "push has no option --\(name); use \(options.joined(separator: " or "))"
        }
        return nil
    }

    private static func names(below command: any ParsableCommand.Type) -> [String] {
        command.configuration.subcommands.flatMap { subcommand in
            [subcommand._commandName]
                + subcommand.configuration.aliases
        } + ["help"]
    }
}
