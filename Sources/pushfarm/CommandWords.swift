import ArgumentParser
import PushModel

/// The words of a command line, before they are parsed.
enum CommandWords {
    /// `scale -1` means a number, not an option: such a word goes behind `--`.
    static func arranged(_ words: [String]) -> [String] {
        guard words.first == "scale", !words.contains("--"),
            let index = words.firstIndex(where: { $0.first == "-" && Int(foreign: $0) != nil })
        else { return words }
        var words = words
        let step = words.remove(at: index)
        return words + ["--", step]
    }

    /// What to say about a first word that is no command; nil when it is one, or an option.
    static func complaint(_ words: [String]) -> String? {
        guard let first = words.first, !first.isEmpty, !first.hasPrefix("-") else { return nil }
        let names = names(below: Pushfarm.self)
        guard !names.contains(first) else { return nil }
        let nearest = NearestWord.find(first, among: names)
        return "there is no command \(first.prefix(40)); "
            + (nearest.map { "did you mean \($0)?" } ?? "pushfarm --help lists all")
    }

    private static func names(below command: any ParsableCommand.Type) -> [String] {
        command.configuration.subcommands.flatMap { subcommand in
            [subcommand._commandName]
                + subcommand.configuration.aliases
        } + ["help"]
    }
}
