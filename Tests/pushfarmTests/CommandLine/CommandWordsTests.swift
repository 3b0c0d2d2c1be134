import Testing

@testable import pushfarm

struct CommandWordsTests {
    @Test(arguments: [
        (["scale", "-1", "a", "--timeout", "5"], ["scale", "--timeout", "5", "--", "-1", "a"]),
        (["scale", "--timeout", "5", "--", "-1", "a"], ["scale", "--timeout", "5", "--", "-1", "a"]),
        (["scale", "--dry-run", "-1"], ["scale", "--dry-run", "--", "-1"]),
        (["scale", "4", "--timeout", "-5"], ["scale", "4", "--timeout", "-5"]),
        (["rate", "demo", "-5/s", "--json"], ["rate", "demo", "--json", "--", "-5/s"]),
        (
            ["shards", "move", "-1", "alpha", "--app", "a"],
            ["shards", "move", "--app", "a", "--", "-1", "alpha"]
        ),
        (["jobs", "--limit", "-1"], ["jobs", "--limit", "-1"]),
        (["simulator", "control", "latency", "-1"], ["simulator", "control", "latency", "-1"]),
        (["scale", "+1"], ["scale", "+1"]), (["events", "-f"], ["events", "-f"]), ([], []),
    ])
    func `a word with a minus sign is a number where no option accepts it`(
        words: [String], arranged: [String]
    ) {
        #expect(CommandWords.arranged(words) == arranged)
    }

    @Test func `an unknown command gets the nearest name`() {
        #expect(CommandWords.problem(["statu"]) == "there is no command statu; did you mean status?")
        #expect(CommandWords.problem(["shard"]) == "there is no command shard; did you mean shards?")
        #expect(
            CommandWords.problem(["deliver"]) == "there is no command deliver; pushfarm help all lists them"
        )
        #expect(
            CommandWords.problem(["debug", "kil", "a/0"])
                == "there is no command debug kil; did you mean debug kill?")
        #expect(
            CommandWords.problem(["dead", "burry"])
                == "there is no command dead burry; pushfarm help dead lists them")
        for words in [
            ["status"], ["shards"], ["shards", "--json"], ["debug"], ["bad", "list"], ["help"], ["--version"],
            ["-h"], [],
        ] {
            #expect(CommandWords.problem(words) == nil)
        }
    }

    @Test(arguments: [
        (["gate", "close", "demo"], "gate is now admission"),
        (["balance", "auto"], "balance is now scale auto"),
        (["balance", "off"], "balance is now scale +0"),
        (["quarantine", "list"], "quarantine is now paused"),
        (["quarantine", "job", "a"], "quarantine is now pause"),
        (["release", "a"], "release is now resume (of what the farm quarantined: resume --quarantined)"),
        (["dead", "retry", "1-0"], "dead retry is now replay"), (["fsck"], "fsck is now debug fsck"),
        (["refused", "retry", "1-0"], "refused retry is now refused resubmit"),
        (["log-level", "debug"], "log-level is now debug log-level"),
    ])
    func `an old command name gets the new name`(words: [String], says: String) {
        #expect(CommandWords.problem(words) == says)
    }

    @Test func `an APNs header gets the option of push that replaces it`() {
        #expect(
            CommandWords.problem(["push", "--apns-priority", "10"])
                == "push has no option --apns-priority; use --priority")
        #expect(
            CommandWords.problem(["push", "--apns_expiration=0"])
                == "push has no option --apns_expiration; use --expires-at or --ttl")
        #expect(CommandWords.problem(["push", "--priority", "10"]) == nil)
        #expect(CommandWords.problem(["push", "--alert", "apns-priority"]) == nil)
        #expect(CommandWords.problem(["find", "--apns-id", "x"]) == nil)
    }

    @Test func `the help explains plain numbers and times`() {
        let help = JobsCommand.helpMessage()
        #expect(help.contains("The largest number of jobs to list. (default: 20)"))
        #expect(help.contains("Time between the two readings. (default: 1s)"))
    }

    @Test(arguments: [
        (["jobs", "--limit", "-1"], "--limit must be from 1 to 10000"),
        (["events", "--limit", "-1"], "--limit must be from 0 to 1000000"),
        (["dead", "list", "--limit", "-1"], "--limit must be at least 1"),
        (["demo", "--kill", "-1"], "--kill must be from 0 to"),
        (["find", "--job", "a", "--events", "-1"], "--events must"),
        (["simulator", "--refusals", "-1"], "--refusals must"),
        (["rate", "demo", "-5/s"], "A rate is 500/s"),
        (["pause", "--shard", "-1"], "A shard number is 0 or more"),
        (["simulator", "--port", "-1"], "'--port <port>': it is at least 0"),
        (["simulator", "--port", "65536"], "'--port <port>': it is too large"),
        (["jobs", "--limit", "1x"], "'--limit <n>': use a whole number"),
        (["jobs", "--limit", "--json"], "'--limit <n>': use a whole number"),
        (["shards", "move", "x", "alpha"], "'<shard>': use a whole number"),
        (
            ["push", "--token", "aa", "--alert", "x", "--ttl", "-5"],
            "'--ttl <duration>': a duration is not negative"
        ),
        (["ping", "--timeout", "5w"], "'--timeout <duration>': there is no unit w"),
    ])
    func `an invalid number has its own error`(words: [String], says: String) {
        let error = #expect(throws: (any Error).self) {
            _ = try Pushfarm.parseAsRoot(CommandWords.arranged(words))
        }
        let message = error.map { Pushfarm.message(for: $0) } ?? ""
        #expect(message.contains(says), "\(message)")
        #expect(!message.contains("Missing value"), "\(message)")
    }
}
