/// The manual page of one command.
package struct CommandPage {
    private let command: CommandHelp
    private let edition: Edition

    /// The program version and date that the page shows.
    package struct Edition {
        package var version: String
        package var date: String

        package init(version: String, date: String) { (self.version, self.date) = (version, date) }
    }

    package init(_ command: CommandHelp, _ edition: Edition) {
        (self.command, self.edition) = (command, edition)
    }

    /// The page's name, such as `pushfarm-suppressed-list`.
    package var name: String { command.words.joined(separator: "-") }
    package var file: String { name + ".1" }

    package var text: String {
        var page = Roff(
            title: name.uppercased(), section: 1, date: edition.date, source: "pushfarm \(edition.version)",
            manual: "Pushfarm")
        page.section("NAME")
        page.markup("\(Roff.escaped(name)) \\- \(Roff.escaped(Self.title(command.abstract ?? "")))")
        page.section("SYNOPSIS")
        page.markup(synopsis)
        let help = HelpText(command.discussion ?? "")
        if !help.description.isEmpty {
            page.section("DESCRIPTION")
            page.blocks(help.description)
        }
        commands(&page)
        options(&page)
        if !help.status.isEmpty {
            page.section("EXIT STATUS")
            page.blocks(help.status)
        }
        if command.superCommands == nil {
            describeGlobalOptions(&page)
            dependencies(&page)
        }
        if !help.examples.isEmpty {
            page.section("EXAMPLES")
            page.blocks(help.examples)
        }
        page.section("SEE ALSO")
        page.markup(seeAlso)
        return page.text
    }

    // MARK: Parts

    private var synopsis: String {
        var words = [Roff.bold(command.words.joined(separator: " "))]
        if !command.visibleSubcommands.isEmpty { words.append(Roff.italic("command")) }
        for argument in command.visibleArguments where !argument.isOptional && argument.kind != "positional" {
            words.append(Self.form(argument, isShort: true))
        }
        words.append("[" + Roff.italic("options") + "]")
        for argument in command.visibleArguments where argument.kind == "positional" {
            let name = Roff.italic(argument.valueName ?? "value") + (argument.isRepeating ? " ..." : "")
            words.append(argument.isOptional ? "[\(name)]" : name)
        }
        return words.joined(separator: " ")
    }

    private func commands(_ page: inout Roff) {
        guard !command.visibleSubcommands.isEmpty else { return }
        page.section("COMMANDS")
        for subcommand in command.visibleSubcommands {
            page.item(
                Roff.bold(subcommand.words.joined(separator: "-")) + "(1)", subcommand.abstract ?? "")
        }
    }

    private func options(_ page: inout Roff) {
        let arguments = command.visibleArguments
        guard !arguments.isEmpty else { return }
        page.section("OPTIONS")
        for argument in arguments where argument.sectionTitle == nil { Self.describe(argument, &page) }
        var titles: [String] = []
        for title in arguments.compactMap(\.sectionTitle) where !titles.contains(title) {
            titles.append(title)
        }
        for title in titles {
            page.subsection(title)
            if title == Self.globalOptions, command.superCommands != nil {
                refer(to: arguments.filter { $0.sectionTitle == title }, &page)
                continue
            }
            for argument in arguments where argument.sectionTitle == title { Self.describe(argument, &page) }
        }
    }

    /// The title of the options that every command has.
    private static let globalOptions = "Global options"

    private func refer(to arguments: [CommandHelp.Argument], _ page: inout Roff) {
        let names = arguments.flatMap { $0.names ?? [] }.map { Roff.bold($0.text) }
        page.markup(names.joined(separator: ", ") + ": see " + Roff.bold("pushfarm") + "(1).")
    }

    /// Describes the global options, which appear only on the program's own page.
    private func describeGlobalOptions(_ page: inout Roff) {
        let arguments = command.all.lazy.map {
            $0.visibleArguments.filter { $0.sectionTitle == Self.globalOptions }
        }
        guard let first = arguments.first(where: { !$0.isEmpty }) else { return }
        page.section("GLOBAL OPTIONS")
        for argument in first { Self.describe(argument, &page) }
    }

    private func dependencies(_ page: inout Roff) {
        page.section("ENVIRONMENT")
        page.item(Roff.bold("PUSHFARM_CONFIG"), "The configuration, when no --config names one.")
        page.item(
            Roff.bold("PUSHFARM_..."),
            "Each value of the configuration, its path in capitals: PUSHFARM_REDIS, PUSHFARM_LOG_LEVEL, PUSHFARM_APPS_DEMO_KEY_FILE."
        )
        page.item(
            Roff.bold("NOTIFY_SOCKET") + ", " + Roff.bold("WATCHDOG_USEC"),
            "Set by the service manager: where the coordinator sends its state, and how often.")
        page.section("FILES")
        page.item(
            Roff.italic("./pushfarm.yaml"),
            "The configuration, when neither --config nor the environment names one; /etc/pushfarm/pushfarm.yaml for the service."
        )
    }

    private var seeAlso: String {
        var pages: [String] = []
        if let parents = command.superCommands {
            pages.append(Roff.bold(parents.joined(separator: "-")) + "(1)")
        }
        pages.append(Roff.bold("pushfarm.yaml") + "(5)")
        return pages.joined(separator: ",\n")
    }

    // MARK: Arguments

    private static func describe(_ argument: CommandHelp.Argument, _ page: inout Roff) {
        var text = argument.abstract ?? ""
        if let values = argument.allValues, !values.isEmpty {
            text += (text.isEmpty ? "" : " ") + "One of " + values.joined(separator: ", ") + "."
        }
        if let value = argument.defaultValue, !value.isEmpty {
            text += (text.isEmpty ? "" : " ") + "Default: \(value)."
        }
        page.item(form(argument, isShort: false), text.isEmpty ? "See above." : text)
    }

    /// Formats an argument such as `-h, --help` or `--app app ...`.
    private static func form(_ argument: CommandHelp.Argument, isShort: Bool) -> String {
        let value = Roff.italic(argument.valueName ?? "value")
        let more = argument.isRepeating ? " ..." : ""
        guard argument.kind != "positional" else { return value + more }
        let names = argument.names ?? []
        let shown = isShort ? Array(names.suffix(1)) : names
        let text = shown.map { Roff.bold($0.text) }.joined(separator: ", ")
        return argument.kind == "option" ? "\(text) \(value)\(more)" : text
    }

    /// Makes a page title from a summary sentence: a lower-case first letter and no full stop.
    private static func title(_ abstract: String) -> String {
        var words = abstract.split(separator: "\n").first.map(String.init) ?? ""
        if words.hasSuffix(".") { words.removeLast() }
        let isName = words.dropFirst().first?.isUppercase ?? false
        return isName ? words : words.prefix(1).lowercased() + words.dropFirst()
    }
}
