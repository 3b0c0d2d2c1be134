import PushModel
import RedisProtocol
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// `settle` refuses invalid arguments and keys before its first effect.
@Suite struct SettleWordsTests {
    let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    /// Returns the arguments of a call that settles two entries.
    /// Counted from 0, the arguments 6 to 12 are the first entry, and the arguments 13 to 32 are the second entry.
    private func words() throws -> [String] {
        let batch = try fixture.held([("a", 4)])
        _ = try fixture.report(batch, 0..<1, entry: StoreFixture.delivered("a", 1))
        _ = try fixture.report(batch, 1..<4, entry: StoreFixture.delivered("a", 3))
        let ids = try fixture.results().map(\.id.description)
        // One delivered push, one failed push with a reason, and one retry that may be a duplicate.
        let packed = Self.counts(1, 1, 0, 0, 1, 1) + "\u{1}\u{3}bad\0\0\0\u{1}"
        return ["259200", "100000", "1", "00000007", "here topic", "2"]
            + [ids[0], "5", "", "0", "0", "0", "0"] + [ids[1], "18", packed]
            + ["1", "01", "h", "0", "1", "body"] + ["2"]
            + ["1", "01", "B\0\0\0\u{7}\0\0\0\u{1}token", "2", "type", "token.invalid"]
            + ["1", "2", "type", "push.failed"]
    }

    private static func counts(_ counts: UInt8...) -> String {
        "\u{1}a" + counts.map { "\0\0\0" + String(UnicodeScalar($0)) }.joined()
    }

    private func settle(_ words: [String]) throws -> RESPValue {
        var command = RESPCommand("EVALSHA")
        command.append(try fixture.redis.hash(.settle))
        for word in ["1", "{pushfarm:demo}:"] + words { command.append(word) }
        return try fixture.redis.run(command)
    }

    /// For each wrong call: the position of the first replaced argument, the replacement arguments, and the expected error.
    private static let wrong: [(place: Int, words: [String], error: String)] = [
        (0, ["x"], "no count: x"), (0, ["-1"], "no count: -1"), (0, ["1.5"], "no count: 1.5"),
        (1, ["x"], "no count: x"), (1, ["-1"], "no count: -1"),
        (2, ["x"], "no count: x"), (2, ["-1"], "no count: -1"), (2, ["99"], "no count: nil"),
        (5, ["x"], "no count: x"), (5, ["3"], "no count: nil"),
        (14, ["x"], "no count: x"), (14, ["-18"], "no count: -18"), (14, ["17"], "other words than agreed"),
        (14, ["19"], "words are missing"), (14, ["99"], "words are missing"),
        (7, ["6"], "other words than agreed"), (15, ["\u{9}a"], "too short"), (15, ["\0"], "too short"),
        (16, ["x"], "no count: x"), (16, ["-1"], "no count: -1"),
        (17, ["x"], "no list to try again"), (17, [""], "no list to try again"),
        (18, ["z"], "no list to try again"), (18, ["hb"], "no list to try again"),
        (19, ["x"], "no count: x"), (19, ["-5"], "no count: -5"), (19, ["0.5"], "no count: 0.5"),
        (20, ["x"], "no count: x"), (20, ["-1"], "no count: -1"), (20, ["65536"], "too large a batch"),
        (22, ["x"], "no count: x"), (22, ["-1"], "no count: -1"),
        (23, ["x"], "no count: x"), (23, ["-1"], "no count: -1"),
        (24, ["x"], "no token record"), (24, [""], "no token record"), (25, ["B12345678"], "no token record"),
        (26, ["x"], "no count: x"), (26, ["0"], "no event"), (26, ["3"], "no event"),
        (29, ["x"], "no count: x"), (29, ["-1"], "no count: -1"),
        (30, ["x"], "no count: x"), (30, ["0"], "no event"), (30, ["1"], "no event"), (30, ["3"], "no event"),
        (30, ["1001"], "no event"), (30, ["1002"], "no event"),
    ]

    @Test func `invalid arguments are refused and nothing of the call is settled`() throws {
        let words = try words()
        let before = try RedisDump(fixture.redis)
        var calls = Self.wrong.map { wrong in
            var changed = words
            changed.replaceSubrange(wrong.place..<wrong.place + wrong.words.count, with: wrong.words)
            return (changed, wrong.error)
        }
        // The first call has one byte too many. In the other calls, the last event has fewer arguments than its count says.
        var longer = words
        longer[15] += "\0"
        calls.append((longer, "too short"))
        for missing in 1...2 {
            var cut = words
            (cut[14], cut[30]) = ("20", "4")
            cut += ["name", "value"].dropLast(missing)
            calls.append((cut, "words are missing"))
        }
        for (call, error) in calls {
            let reply = try settle(call)
            #expect(reply.error?.message.contains(error) == true, "\(call): \(reply), not: \(error)")
            #expect(try RedisDump(fixture.redis) == before, "\(call)")
        }
        #expect(try settle(words) == .array([.integer(2), .integer(0)]))
    }

    /// Returns the arguments of `words()`, and a dead letter of the second entry as arguments 33 to 41.
    private func wordsWithLetter() throws -> [String] {
        var words = try words()
        words[14] = "27"
        return words + ["letters", "1", "100", "1000", "a", "bad", "400", "1", "body"]
    }

    @Test func `invalid dead letters are refused and nothing of the call is settled`() throws {
        let words = try wordsWithLetter()
        let before = try RedisDump(fixture.redis)
        let wrong: [(place: Int, word: String, error: String)] = [
            (33, "letter", "other words than agreed"),
            (34, "x", "no count: x"), (34, "2", "no count: nil"), (34, "0", "other words"),
            (35, "x", "no count: x"), (35, "-1", "no count: -1"), (36, "x", "no count: x"),
            (37, "", "without job or reason"), (38, "", "without job or reason"), (39, "x", "no count: x"),
            (40, "0.5", "no count: 0.5"), (40, "65536", "too large a dead letter"),
        ]
        for (place, word, error) in wrong {
            var changed = words
            changed[place] = word
            let reply = try settle(changed)
            #expect(reply.error?.message.contains(error) == true, "\(place): \(reply), not: \(error)")
            #expect(try RedisDump(fixture.redis) == before, "\(place)")
        }
        for damage in [
            ["SET", "dead_letters", "x"], ["SET", "dead_letter_counts", "x"], ["SET", "audit", "x"],
        ] {
            try breakValue(damage)
            let spoilt = try RedisDump(fixture.redis)
            #expect(try settle(words).error?.message == "KEY {pushfarm:demo}:\(damage[1])", "\(damage)")
            #expect(try RedisDump(fixture.redis) == spoilt, "\(damage)")
            try fixture.redis.run("DEL", "{pushfarm:demo}:" + damage[1])
        }
        #expect(try settle(words) == .array([.integer(2), .integer(0)]))
        #expect(try fixture.perform(CountDeadLetters()) == .init(pushes: 1, bytes: 4))
    }

    @Test func `a batch and an event of maximum size are settled`() throws {
        var words = try words()
        (words[20], words[14], words[30]) = ("65535", "1016", "1000")
        words += (0..<998).map { "\($0)" }
        #expect(try settle(words) == .array([.integer(2), .integer(0)]))
        #expect(try fixture.events().dropLast().last?.count == 501)
    }

    /// Commands that damage keys. The keys have no app prefix.
    private static let damages = [
        ["SET", "events", "x"], ["SET", "delayed", "x"], ["SET", "states", "x"], ["SET", "batches", "x"],
        ["SET", "suppressed:01", "x"], ["SET", "suppression", "x"], ["SET", "scopes", "x"],
        ["SET", "unproven", "x"], ["SET", "guard", "x"], ["SET", "admission", "x"],
        ["SET", "load", "x"], ["SET", "unsettled", "x"],
    ]

    @Test(arguments: damages) func `a key of the wrong type is named before any settlement`(
        damage: [String]
    ) throws {
        let words = try words()
        try breakValue(damage)
        let before = try RedisDump(fixture.redis)
        #expect(try settle(words).error?.message == "KEY {pushfarm:demo}:\(damage[1])")
        #expect(try RedisDump(fixture.redis) == before)
    }

    /// For each case: the key of a hash, a field, and a value that is not a number.
    private static let spoilt = [
        ["guard", "answers", "x"], ["guard", "answers", "0.5"], ["guard", "bad", "x"],
        ["guard", "bad", "nan"],
        ["suppression", "taken_back", "x"], ["load", "open", "many"], ["load", "open", "1.5"],
        ["load", "settled", "1e3"], ["job:a", "accepted", "x"], ["job:a", "in_flight", ""],
        ["job:a", "delivered", "inf"], ["job:a", "failed", "1.5"], ["job:a", "expired", "x"],
        ["job:a", "cancelled", "-"], ["job:a", "delayed", "1e9"], ["job:a", "maybe_duplicated", "x"],
        ["job:a", "reason:bad", "0x10"],
    ]

    @Test(arguments: spoilt) func `a field without a number is kept and blocks nothing`(
        field: [String]
    ) throws {
        let words = try words()
        try fixture.redis.run("HSET", "{pushfarm:demo}:" + field[0], field[1], field[2])
        #expect(try settle(words) == .array([.integer(2), .integer(0)]))
        let name = field[0].replacing("job:", with: "job ") + " " + field[1]
        #expect(try fixture.redis.run("HGETALL", "{pushfarm:demo}:unreadable").fields == [name: field[2]])
        let written = try fixture.events().filter { $0["type"] == "data.unreadable" }
        #expect(written.map { $0["entry"] } == [name])
        if field[0] == "job:a", field[1] != "accepted" { #expect(try fixture.jobRecord("a").accepted == 4) }
        // The entries of this test contradict the batches, so the test ignores the faults that the audit finds. It checks
        // that neither the audit nor a repair throws an error because of the wrong value.
        _ = try fixture.audit()
        _ = try fixture.perform(Repair(.jobRecords(nil), shards: StoreFixture.shards))
    }

    @Test func `a job record that is not a hash is deleted and the other job is settled`() throws {
        try fixture.split([("a", 2), ("b", 2)])
        let batch = try fixture.checkout().batches[0]
        _ = try fixture.report(batch, 0..<2, entry: StoreFixture.delivered("a", 2))
        _ = try fixture.report(batch, 2..<4, entry: StoreFixture.delivered("b", 2))
        let records = try fixture.results()
        try breakValue(["SET", "job:a", "x"])
        let settlements = [
            StoreFixture.settlement(records[0], "a", delivered: 2),
            StoreFixture.settlement(records[1], "b", delivered: 2),
        ]
        #expect(try fixture.perform(Settle(settlements)) == .init(settledCount: 2, finishedJobs: 1))
        #expect(try fixture.jobRecord("b").state == .finished)
        #expect(try fixture.redis.run("HKEYS", "{pushfarm:demo}:unreadable").array?.map(\.text) == ["job a"])
        #expect(try fixture.redis.run("EXISTS", "{pushfarm:demo}:job:a").integer == 0)
        #expect(try fixture.audit() == [])
    }

    @Test func `the unreadable part of an entry is kept and reported`() throws {
        var words = try wordsWithLetter()
        words[14] = "31"
        words += ["unreadable", "why", "2", "the entry"]
        for (place, word) in [(42, "other"), (44, "x"), (44, "-1")] {
            var changed = words
            changed[place] = word
            #expect(try settle(changed).error != nil)
        }
        #expect(try settle(words) == .array([.integer(2), .integer(0)]))
        #expect(try fixture.redis.run("HGET", "{pushfarm:demo}:unreadable", words[13]).text == "the entry")
        let written = try fixture.events().filter { $0["type"] == "data.unreadable" }
        #expect(written.map { [$0["entry"], $0["reason"], $0["pushes"]] } == [[words[13], "why", "2"]])
    }

    @Test func `an original without room is reported as lost and blocks nothing`() throws {
        let words = try words()
        var fill = RESPCommand("HSET", "{pushfarm:demo}:unreadable")
        for index in 1...1000 {
            fill.append("old \(index)")
            fill.append("x")
        }
        try fixture.redis.run(fill)
        try fixture.redis.run("HSET", "{pushfarm:demo}:load", "open", "many")
        #expect(try settle(words) == .array([.integer(2), .integer(0)]))
        #expect(try fixture.redis.run("HLEN", "{pushfarm:demo}:unreadable").integer == 1000)
        let written = try fixture.events().filter { $0["type"] == "data.unreadable" }
        #expect(
            written.map { $0["reason"] } == [
                "holds no number; its original is not kept, as there are too many"
            ])
    }

    @Test(arguments: [
        ["SET", "delayed", "x"], ["SET", "states", "x"], ["SET", "batches", "x"],
        ["SET", "suppressed:01", "x"], ["SET", "suppression", "x"], ["SET", "unproven", "x"],
        ["SET", "scopes", "x"], ["SET", "admission", "x"], ["SET", "unreadable", "x"],
        ["HSET", "job:a", "delayed", "x"], ["HSET", "job:a", "maybe_duplicated", "x"],
        ["HSET", "job:a", "reason:other", "x"], ["HSET", "load", "open", "-3"], ["DEL", "load"],
    ])
    func `an unrelated damage does not affect an entry`(damage: [String]) throws {
        let words = try words()
        try breakValue(damage)
        let delivered =
            words[..<2]
            + ["0", "1", words[13], "5", Self.counts(3, 0, 0, 0, 0, 0) + "\0", "0", "0", "0", "0"]
        #expect(try settle(Array(delivered)) == .array([.integer(1), .integer(0)]))
    }

    private func breakValue(_ damage: [String]) throws {
        var command = RESPCommand(damage[0])
        command.append("{pushfarm:demo}:" + damage[1])
        for word in damage.dropFirst(2) { command.append(word) }
        if damage[0] == "SET" { try fixture.redis.run("DEL", "{pushfarm:demo}:" + damage[1]) }
        #expect(try fixture.redis.run(command).error == nil)
    }
}
