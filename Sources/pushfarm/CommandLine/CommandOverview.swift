import ArgumentParser

/// The lists of commands that `pushfarm --help` and `pushfarm help all` show.
enum CommandOverview {
    /// The overview that a command line requests, or nil when the command line requests no overview.
    static func asked(by words: [String]) -> String? {
        switch words {
        case ["--help"], ["-h"], ["help"]: text(isFull: false)
        case ["help", "all"]: text(isFull: true)
        default: nil
        }
    }

    static func text(isFull: Bool) -> String {
        let root = Pushfarm.configuration
        var text = "OVERVIEW: \(root.abstract)\n\n\(root.discussion)\n\nUSAGE: pushfarm <command>\n"
        for group in Pushfarm.groups {
            let commands = group.first + (isFull ? group.others : [])
            let list = commands.flatMap { rows($0, below: [], isFull: isFull) }
            text += "\n\(group.name.uppercased()):\n" + list.joined()
        }
        return text + "\n\(CommonOptions.title.uppercased()):\n\(globalOptions)"
            + (isFull
                ? "\n  pushfarm help COMMAND explains a command and its options.\n"
                : "\n  pushfarm help all lists every command, pushfarm help COMMAND explains one.\n")
    }

    /// The row of a command and, with `isFull`, the rows of its subcommands.
    private static func rows(
        _ command: any ParsableCommand.Type, below path: [String], isFull: Bool
    ) -> [String] {
        let words = path + [command._commandName]
        let name = words.joined(separator: " ")
        let own = "  \(name.padding(to: nameWidth)) \(command.configuration.abstract)\n"
        guard isFull else { return [own] }
        return [own]
            + command.configuration.subcommands.flatMap { rows($0, below: words, isFull: isFull) }
    }

    private static let nameWidth = 19

    /// The lines that describe the options of every command.
    private static var globalOptions: String {
        let help = CommonOptions.helpMessage(columns: 80).split(
            separator: "\n", omittingEmptySubsequences: false)
        let lines = help.drop { $0 != "OPTIONS:" }.dropFirst().prefix {
            !$0.isEmpty && !$0.contains("-h, --help")
        }
        return lines.map { $0 + "\n" }.joined()
    }

    /// The help of a command, in which a reference to `pushfarm help` replaces the lines about the global options.
    static func withReference(_ help: String) -> String {
        let title = CommonOptions.title.uppercased() + ":"
        var lines = help.split(separator: "\n", omittingEmptySubsequences: false)
        guard let start = lines.firstIndex(where: { $0 == title }) else { return help }
        let end = lines[start...].firstIndex(where: \.isEmpty) ?? lines.endIndex
        lines.replaceSubrange(
            start..<end,
            with: [Substring(title), "  --config, --set, --redis, --state-dir, --json: see pushfarm help"])
        return lines.joined(separator: "\n")
    }
}
