/// A command in the form of `--experimental-dump-help`.
package struct CommandHelp: Decodable {
    package struct Dump: Decodable {
        package var command: CommandHelp
    }

    package struct Argument: Decodable {
        package struct Name: Decodable {
            package var kind: String
            package var name: String

            /// The option name with its dashes, as users type it.
            var text: String { kind == "long" ? "--" + name : "-" + name }
        }

        package var kind: String
        package var abstract: String?
        package var discussion: String?
        package var defaultValue: String?
        package var allValues: [String]?
        package var isOptional: Bool
        package var isRepeating: Bool
        package var shouldDisplay: Bool
        package var names: [Name]?
        package var valueName: String?
        package var sectionTitle: String?
    }

    package var commandName: String
    package var abstract: String?
    package var discussion: String?
    package var arguments: [Argument]?
    package var subcommands: [CommandHelp]?
    package var shouldDisplay: Bool
    package var superCommands: [String]?

    /// The visible subcommands without `help`, because each command explains `help` itself.
    package var visibleSubcommands: [CommandHelp] {
        (subcommands ?? []).filter { $0.shouldDisplay && $0.commandName != "help" }
    }

    /// The visible arguments. A flag and its `--no-` form count as one argument.
    package var visibleArguments: [Argument] {
        var visible: [Argument] = []
        for argument in (arguments ?? []) where argument.shouldDisplay {
            if let last = visible.last, let names = argument.names, last.kind == "flag",
                argument.kind == "flag",
                let name = last.names?.last?.name, names.map(\.name) == ["no-" + name]
            {
                visible[visible.count - 1].names? += names
            } else {
                visible.append(argument)
            }
        }
        return visible
    }

    /// The words of the command line, such as `pushfarm suppressed list`.
    package var words: [String] { (superCommands ?? []) + [commandName] }

    /// This command and all commands below it.
    package var all: [CommandHelp] { [self] + visibleSubcommands.flatMap(\.all) }
}
