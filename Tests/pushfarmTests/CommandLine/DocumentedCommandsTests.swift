import ArgumentParser
import FarmHarness
import Foundation
import Testing

@testable import pushfarm

/// Checks that pages, deployment files and help texts show only existing commands.
struct DocumentedCommandsTests {
    /// The commands in a text. Each command is the list of its words after `pushfarm`.
    private static func commands(in text: String) -> [[String]] {
        // This search is faster than the pattern, and most texts have no command.
        guard text.contains("pushfarm ") else { return [] }
        let pattern = #/(?:^|[$|;&]\s+|--\s+)pushfarm ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?/#
        return text.matches(of: pattern).map { [String($0.1)] + ($0.2.map { [String($0)] } ?? []) }
    }

    /// The code of a page: inline code and code blocks.
    private static func code(of page: String) -> [String] {
        var (code, isBlock) = ([String](), false)
        for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.trimmingCharacters(in: .whitespaces).hasPrefix("```") {
                isBlock.toggle()
            } else if isBlock {
                code.append(String(line))
            } else {
                let parts = line.split(separator: "`", omittingEmptySubsequences: false)
                code += parts.indices.filter { !$0.isMultiple(of: 2) }.map { String(parts[$0]) }
            }
        }
        return code
    }

    private static func pages() throws -> [(name: String, text: String)] {
        let readme = try String(
            contentsOf: Repository.root.appendingPathComponent("README.md"), encoding: .utf8)
        var pages: [(name: String, text: String)] = [(name: "README.md", text: readme)]
        for folder in ["docs", "deploy"] {
            let root = Repository.root.appendingPathComponent(folder)
            let files = try #require(FileManager.default.enumerator(atPath: root.path))
            while let file = files.nextObject() as? String {
                let path = root.appendingPathComponent(file)
                guard let text = try? String(contentsOf: path, encoding: .utf8) else { continue }
                pages.append((name: folder + "/" + file, text: text))
            }
        }
        return pages
    }

    private static func subcommand(
        _ name: String, of command: any ParsableCommand.Type
    ) -> (any ParsableCommand.Type)? {
        command.configuration.subcommands.first {
            $0._commandName == name || $0.configuration.aliases.contains(name)
        }
    }

    @Test func `every command on a page exists`() throws {
        var count = 0
        for (name, text) in try Self.pages() {
            let chunks =
                name.hasSuffix(".md") ? Self.code(of: text) : text.split(separator: "\n").map(String.init)
            for words in chunks.flatMap(Self.commands) where words[0] != "help" {
                count += 1
                guard let command = Self.subcommand(words[0], of: Pushfarm.self) else {
                    Issue.record("\(name): pushfarm \(words[0])")
                    continue
                }
                guard words.count > 1, !command.configuration.subcommands.isEmpty else { continue }
                if Self.subcommand(words[1], of: command) == nil {
                    Issue.record("\(name): pushfarm \(words.joined(separator: " "))")
                }
            }
        }
        #expect(count > 100)
    }

    @Test func `no page uses an old command name`() throws {
        let old =
            #/(dead retry|feedback read|fsck|takeover|log-level|balance (auto|off)|quarantine (job|app|shard|token|list)|gate (open|close|auto))\b/#
        for (name, text) in try Self.pages() where name.hasSuffix(".md") {
            for chunk in Self.code(of: text) where chunk.prefixMatch(of: old) != nil {
                Issue.record("\(name): \(chunk)")
            }
        }
    }

    /// The words of a shell command up to a pipe or a redirection.
    private static func words(_ line: String) -> [String] {
        var (words, word, quote): ([String], String, Character?) = ([], "", nil)
        for character in line + " " {
            if let open = quote {
                if character == open { quote = nil } else { word.append(character) }
            } else if character == "\"" || character == "'" {
                quote = character
            } else if character == " " {
                if ["|", ">", "&&"].contains(word) { return words }
                if !word.isEmpty { words.append(word) }
                word = ""
            } else {
                word.append(character)
            }
        }
        return words
    }

    /// The command that the first word names, and the other words. A parser of the root would first describe all commands
    /// for each line.
    private static func command(
        of words: [String]
    ) -> (command: any ParsableCommand.Type, arguments: [String]) {
        guard let name = words.first, let command = subcommand(name, of: Pushfarm.self) else {
            return (Pushfarm.self, words)
        }
        return (command, Array(words.dropFirst()))
    }

    @Test func `every example of a help text is a valid command line`() {
        var count = 0
        func check(_ command: any ParsableCommand.Type) {
            for line in command.configuration.discussion.split(separator: "\n") {
                let text = line.trimmingCharacters(in: .whitespaces)
                    .replacing("$TOKEN", with: "00fc13adff785122")
                guard text.hasPrefix("pushfarm ") else { continue }
                count += 1
                let words = Array(Self.words(text).dropFirst())
                #expect(throws: Never.self, "\(text)") {
                    let (command, arguments) = Self.command(of: CommandWords.arranged(words))
                    _ = try command.parseAsRoot(arguments)
                }
                #expect(CommandWords.problem(words) == nil, "\(text)")
            }
            for subcommand in command.configuration.subcommands { check(subcommand) }
        }
        check(Pushfarm.self)
        #expect(count > 60)
    }
}
