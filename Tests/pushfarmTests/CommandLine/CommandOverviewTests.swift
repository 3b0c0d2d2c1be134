import ArgumentParser
import Testing

@testable import pushfarm

struct CommandOverviewTests {
    private static let firstScreen = CommandOverview.text(isFull: false)
    private static let all = CommandOverview.text(isFull: true)

    @Test func `the first screen shows at most twenty commands`() {
        let first = Pushfarm.groups.flatMap(\.first)
        #expect(first.count <= 20)
        for command in first {
            #expect(Self.firstScreen.contains("\n  \(command._commandName) "), "\(command)")
        }
        #expect(!Self.firstScreen.contains("\n  takeover ") && !Self.firstScreen.contains("\n  shards "))
        #expect(Self.firstScreen.contains("pushfarm help all"))
    }

    @Test func `the full list has every command`() {
        for command in Pushfarm.configuration.subcommands {
            #expect(Self.all.contains("\n  \(command._commandName) "), "\(command)")
        }
        for line in ["debug takeover", "debug fsck", "dead list", "shards move", "simulator control"] {
            #expect(Self.all.contains("\n  \(line) "), "\(line)")
        }
    }

    @Test func `no line is wider than a terminal`() {
        for line in (Self.firstScreen + Self.all).split(separator: "\n") {
            #expect(line.count <= 80, "\(line)")
        }
    }

    @Test func `only the overview describes global options`() throws {
        let error = try #require(throws: (any Error).self) {
            var command = try Pushfarm.parseAsRoot(["jobs", "--help"])
            try command.run()
        }
        let help = CommandOverview.withReference(Pushfarm.fullMessage(for: error))
        for option in ["--config", "--set", "--redis", "--state-dir", "--json"] {
            #expect(Self.firstScreen.contains("\n  \(option)"), "\(option)")
            #expect(!help.contains("\n  \(option) <"), "\(option)")
        }
        #expect(help.contains("see pushfarm help") && !help.contains("with stable fields"))
        #expect(help.contains("--limit"))
    }

    @Test(arguments: [[], ["--help"], ["help"], ["-h"], ["help", "all"]])
    func `only the general help is an overview`(words: [String]) {
        #expect((CommandOverview.asked(by: words) != nil) == !words.isEmpty)
        #expect(CommandOverview.asked(by: words + ["push"]) == nil)
    }
}
