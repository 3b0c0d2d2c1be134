import FarmHarness
import Foundation
import Testing

@testable import Manual

/// Checks the manual pages of the built program.
struct PagesTests {
    private static let edition = CommandPage.Edition(version: "1.2.3", date: "2026-01-02")
    private static let root = Repository.root

    private static func root(in folder: TestFolder) async throws -> CommandHelp {
        let dump = try Child(
            "dump", BuiltProgram.path, ["--experimental-dump-help"], in: folder.path)
        #expect(try await dump.wait() == .exited(0))
        return try JSONDecoder().decode(CommandHelp.Dump.self, from: Data(dump.output.utf8)).command
    }

    private static var configuration: ConfigurationPage {
        get throws {
            let sample = root.appendingPathComponent("deploy/pushfarm.yaml")
            return ConfigurationPage(try String(contentsOf: sample, encoding: .utf8), edition)
        }
    }

    @Test func `every command has a page with all its options and an example`() async throws {
        let folder = try TestFolder()
        let commands = try await Self.root(in: folder).all
        #expect(commands.count > 20)
        for command in commands {
            let text = CommandPage(command, Self.edition).text
            for argument in command.visibleArguments {
                for name in argument.names ?? [] {
                    #expect(text.contains(Roff.bold(name.text)), "\(command.words): \(name.text)")
                }
            }
            #expect(
                text.contains("\n.SH EXAMPLES\n") || !command.visibleSubcommands.isEmpty, "\(command.words)")
            #expect(text.contains("pushfarm 1.2.3") && text.contains("2026-01-02"))
        }
    }

    @Test func `a flag and its opposite share one description`() async throws {
        let folder = try TestFolder()
        let scale = try #require(try await Self.root(in: folder).all.first { $0.commandName == "scale" })
        let text = CommandPage(scale, Self.edition).text
        #expect(text.contains(Roff.bold("--wait") + ", " + Roff.bold("--no-wait")))
        #expect(text.components(separatedBy: "Waits until every host").count == 2)
    }

    @Test func `no line of a help text is wider than a terminal`() async throws {
        let folder = try TestFolder()
        for command in try await Self.root(in: folder).all {
            // The help of `control` contains tables, which may be wider than a terminal.
            guard command.commandName != "control" else { continue }
            let lines = (command.discussion ?? "").split(separator: "\n")
            for line in lines where line.count > 80 {
                Issue.record("\(command.words.joined(separator: " ")), \(line.count) columns: \(line)")
            }
        }
    }

    @Test func `mandoc has no complaint about any page`() async throws {
        let folder = try TestFolder()
        var files: [String] = []
        for command in try await Self.root(in: folder).all {
            let page = CommandPage(command, Self.edition)
            files.append(try folder.write(page.text, to: page.file))
        }
        files.append(try folder.write(try Self.configuration.text, to: "pushfarm.yaml.5"))
        let lint = try Child("lint", "mandoc", ["-T", "lint", "-W", "style"] + files, in: folder.path)
        #expect(try await lint.wait() == .exited(0), "\(lint.output)")
        // As a counter-check, mandoc must complain about a broken page.
        let bad = try folder.write(".TH X 1 \"2026-01-02\"\n.SH NAME\nx \\- y\n.XX\n", to: "x.1")
        let check = try Child("check", "mandoc", ["-T", "lint", "-W", "style", bad], in: folder.path)
        #expect(try await check.wait() != .exited(0))
    }

    @Test func `the configuration page has every key of the sample`() throws {
        let text = try Self.configuration.text
        for key in [
            "redis", "state_dir", "shards", "topic", "key", "max_rate", "budget", "quiet_time", "window",
        ] {
            #expect(text.contains(Roff.bold(key + ":")), "\(key)")
        }
    }
}
