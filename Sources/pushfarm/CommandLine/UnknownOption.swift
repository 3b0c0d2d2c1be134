import ArgumentParser
import PushModel

/// Names a misspelt option. The parser checks groups of options before it notices unknown options, so it may say that an option is
/// missing which the user has misspelt.
enum UnknownOption {
    /// Replaces the parser's complaint about wrong options if the command line has an unknown option.
    ///
    /// - Parameters:
    ///   - message: the complaint, then the usage.
    ///   - words: the command line without the program's name.
    static func named(in message: String, _ words: [String]) -> String {
        guard !message.contains("Unknown option"), let problem = problem(words) else { return message }
        let lines = message.split(separator: "\n", omittingEmptySubsequences: false)
        let usage = lines.drop { !$0.hasPrefix("Usage:") }
        return (["Error: \(problem)"] + usage).joined(separator: "\n")
    }

    /// The complaint about the first unknown option; nil if the command has all options.
    static func problem(_ words: [String]) -> String? {
        var command: any ParsableCommand.Type = Pushfarm.self
        for word in words {
            let next = command.configuration.subcommands.first {
                $0._commandName == word || $0.configuration.aliases.contains(word)
            }
            guard let next else { break }
            command = next
        }
        let help = Pushfarm.helpMessage(for: command, includeHidden: true, columns: 1_000)
        let known = Set(help.matches(of: #/--[a-z][a-z0-9-]*/#).map { String($0.output) })
        for word in words.prefix(while: { $0 != "--" }) {
            guard let match = word.prefixMatch(of: #/--[a-z][a-z0-9-]*(?==|$)/#) else { continue }
            let name = String(match.output)
            guard !known.contains(name) else { continue }
            let nearest = NearestWord.find(name, among: known.sorted())
            return "Unknown option '\(name)'" + (nearest.map { ". Did you mean '\($0)'?" } ?? "")
        }
        return nil
    }
}
