import PushModel
import RedisProtocol
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// The simulation relies on the accounting check. So the check must name every kind of damage that these tests make.
@Suite struct CheckAccountingTests {
    /// Makes four batches: a is in ready:01, b is in bulk:02, c is checked out in in_flight:00 and partly reported, and d is
    /// delayed.
    private func fixture() throws -> (fixture: StoreFixture, ids: [String: String]) {
        let fixture = try StoreFixture()
        try fixture.split(step: 1, [("c", 4)], shard: 0)
        let batch = try #require(try fixture.checkout().batches.first)
        _ = try fixture.report(batch, 1..<2, entry: StoreFixture.delivered("c", 1))
        try fixture.split(step: 2, [("a", 3)], shard: 1)
        try fixture.split(step: 3, [("b", 2)], shard: 2, lane: .bulk)
        try fixture.split(step: 4, [("d", 2)], shard: 3, due: 4_000_000_000_000)
        var ids: [String: String] = [:]
        for (index, name) in ["c", "a", "b", "d"].enumerated() {
            let all = try fixture.redis.run("HKEYS", "{pushfarm:demo}:states").array?.compactMap(\.text) ?? []
            ids[name] = all.first { $0.hasPrefix("0\(index).") }
        }
        return (fixture, ids)
    }

    /// In the arguments, `A`, `B`, `C`, `D` stand for the ids of the batches, and keys have no app prefix.
    @Test(arguments: [
        ("RPUSH paused A", "batch A is in ready:01 and in paused"),
        ("LPOP ready:01", "batch A is nowhere"),
        ("RENAME ready:01 ready:03", "batch A is in ready 03"),
        ("RENAME ready:01 bulk:01", "batch A is in bulk"),
        ("RENAME bulk:02 ready:02", "batch B is in ready"),
        ("HDEL states A", "batch A in ready:01 has no state"),
        ("HDEL batches A", "batch A in ready:01 has no body"),
        ("HSET batches x y", "batch x has no state"),
        ("HSET states A |0|0||2|...", "batch A counts 2 open of 3"),
        ("HSET states A |0|0||0|xxx", "batch A in ready:01 has nothing open"),
        ("HSET states C w1|1|5||3|.x..", "batch C grants 5 of 4"),
        ("HSET states A w1|0|0||3|...", "batch A in ready:01 stamped w1"),
        ("HSET states C |1|4||3|.x..", "batch C in in_flight:00 stamped "),
        ("HSET states A |0|1||3|...", "batch A in ready:01 grants 1"),
        ("HSET states A |0|0||4|....", "batch A in ready:01 cannot be read"),
        ("HSET job:a accepted 4", "job a accepted 4 and has 3"),
        ("HSET job:a in_flight 1", "job a in_flight 1 of 0"),
        ("HSET job:c in_flight 3", "job c in_flight 3 of 4"),
        ("HSET job:a delayed 1", "job a delayed 1 of 0"),
        ("HSET job:d delayed 0", "job d delayed 0 of 2"),
        ("HSET job:a state finished", "job a is finished with 0"),
        ("HSET job:a reason:x 1", "job a has more reasons than failures"),
        ("DEL job:a", "job a has 3 open and no job record"),
        ("HSET load open 12", "load 12 of 11 open"),
        ("XTRIM results MAXLEN 0", "job c accepted 4 and has 3"),
        ("HSET intake head a offset 1", "job a accepted 3 and has 5"),
    ])
    func `the audit names each fault`(command: String, fault: String) throws {
        let (fixture, ids) = try fixture()
        #expect(try fixture.audit() == [])
        func filled(_ word: Substring) -> String {
            ["A", "B", "C", "D"].contains(word) ? ids[word.lowercased()] ?? "" : String(word)
        }
        let words = command.split(separator: " ")
        var line = RESPCommand(String(words[0]))
        for (place, word) in words.dropFirst().enumerated() {
            let isKey = place == 0 || words[0] == "RENAME"
            line.append(isKey ? "{pushfarm:demo}:\(word)" : filled(word))
        }
        #expect(try fixture.redis.run(line).error == nil)
        let expected = fault.split(separator: " ", omittingEmptySubsequences: false).map(filled)
            .joined(separator: " ")
        let faults = try fixture.audit()
        #expect(faults.contains(expected), "\(faults)")
    }
}
