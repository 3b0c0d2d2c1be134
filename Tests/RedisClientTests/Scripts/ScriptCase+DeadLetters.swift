import PushModel
import RedisProtocol

@testable import RedisClient
@testable import StoreProtocol

/// Cases of dead letters: settling creates them, they expire, and operators replay or drop them.
extension ScriptCase {
    static let letters = keptDeadLetters + trims + replays + refusals + repeats

    /// Returns a settlement of an entry with five pushes. Three of the pushes failed, for two reasons.
    private static func settleDeadLetters(_ fixture: StoreFixture, retention: Retention = Retention()) throws
        -> Settle
    {
        let batch = try fixture.held([("a", 5)])
        _ = try fixture.report(batch, 0..<5, entry: StoreFixture.delivered("a", 5))
        var settlement = Settlement(entry: try fixture.results()[0].id)
        var job = Settlement.Job(id: "a")
        (job.delivered, job.failed, job.reasons) = (2, 3, ["BadTopic": 2, "exhausted": 1])
        settlement.jobs = [job]
        settlement.letters = [
            .init(job: "a", reason: "BadTopic", status: 400, pushes: 2, body: StoreFixture.body([("a", 2)])),
            .init(job: "a", reason: "exhausted", pushes: 1, body: StoreFixture.body([("a", 1)])),
        ]
        return Settle([settlement], retention: retention)
    }

    private static let keptDeadLetters = [
        ScriptCase("keeps failed pushes with a valid token", again: .other("[0, 0]")) { fixture in
            try settleDeadLetters(fixture)
        },
        ScriptCase("keeps the youngest dead letters up to the limit of pushes", again: .other("[0, 0]")) {
            fixture in
            var retention = Retention()
            retention.deadLetterPushes = 2
            return try settleDeadLetters(fixture, retention: retention)
        },
        ScriptCase("keeps the youngest dead letters up to the limit of bytes", again: .other("[0, 0]")) {
            fixture in
            var retention = Retention()
            retention.deadBytes = StoreFixture.body([("a", 1)]).count
            return try settleDeadLetters(fixture, retention: retention)
        },
        ScriptCase("keeps no dead letter at a limit of zero", again: .other("[0, 0]")) { fixture in
            var retention = Retention()
            retention.deadLetterPushes = 0
            return try settleDeadLetters(fixture, retention: retention)
        },
        ScriptCase("writes settled outcomes to the audit in one entry", again: .other("[0, 0]")) { fixture in
            try audited(fixture, bytes: 1000)
        },
        ScriptCase("writes nothing that is larger than the audit", again: .other("[0, 0]")) { fixture in
            try audited(fixture, bytes: 105)
        },
        ScriptCase("drops the oldest entry when the audit is full", again: .other("[0, 0]")) { fixture in
            for number in 1...3 { try fixture.remember("what was", at: "\(number)-1") }
            return try audited(fixture, bytes: 300)
        },
    ]

    /// Makes three results entries with audit records, and settles the first entry.
    /// Returns a call that settles all three entries.
    private static func audited(_ fixture: StoreFixture, bytes: Int) throws -> Settle {
        let batch = try fixture.held([("a", 3)])
        for position in 0..<3 {
            _ = try fixture.report(batch, position..<position + 1, entry: StoreFixture.delivered("a", 1))
        }
        var settlements = try fixture.results().map { StoreFixture.settlement($0, "a", delivered: 1) }
        for index in settlements.indices { settlements[index].audit = Array("record\(index)".utf8) }
        try fixture.perform(Settle([settlements[0]]))
        var retention = Retention()
        retention.auditBytes = bytes
        return Settle(settlements, retention: retention)
    }

    /// Returns a call that trims all dead letters that are older than `moment`, in seconds.
    private static func trim(_ retention: Retention = Retention(), from moment: Int64, most: Int = 256)
        -> TrimDeadLetters
    {
        var retention = retention
        (retention.deadSeconds, retention.auditSeconds) = (0, 0)
        return TrimDeadLetters(retention, now: moment, most: most)
    }

    private static let trims = [
        ScriptCase("drops dead letters older than a given time", again: .other("0")) { fixture in
            try fixture.addDeadLetter("a", 2, at: "5000-1")
            try fixture.addDeadLetter("a", 1, at: "6000-1")
            try fixture.addDeadLetter("b", 1, at: "7000-1")
            return trim(from: 7)
        },
        ScriptCase("drops dead letters up to the limit of a step", again: .other("0")) { fixture in
            try fixture.addDeadLetter("a", 2, at: "5000-1")
            return trim(from: 6, most: 1)
        },
        ScriptCase("drops entries that are not dead letters", again: .other("0")) { fixture in
            try fixture.redis.run("XADD", "{pushfarm:demo}:dead_letters", "5000-1", "some", "thing")
            try fixture.addDeadLetter("a", 2, at: "5000-2")
            return trim(from: 6)
        },
        ScriptCase("drops the oldest dead letters above the limit", again: .other("0")) { fixture in
            for number in 1...4 { try fixture.addDeadLetter("a", 2, at: "\(number)-1") }
            var retention = Retention()
            retention.deadLetterPushes = 5
            return trim(retention, from: 0)
        },
        ScriptCase("drops no young dead letter below the limits", again: .same) { fixture in
            try fixture.addDeadLetter("a", 2, at: "5000-1")
            return trim(from: 5)
        },
        ScriptCase("drops entries that are in the audit for too long", again: .other("0")) { fixture in
            for number in 1...3 { try fixture.remember("what was", at: "\(number)000-1") }
            var retention = Retention()
            retention.auditBytes = 1000
            return trim(retention, from: 3)
        },
        ScriptCase("drops the oldest of an audit that is too large", again: .other("0")) { fixture in
            for number in 1...3 { try fixture.remember("what was", at: "\(number)000-1") }
            var retention = Retention()
            retention.auditBytes = 250
            return trim(retention, from: 0)
        },
        ScriptCase("drops the audit when it is switched off", again: .other("0")) { fixture in
            for number in 1...3 { try fixture.remember("what was", at: "\(number)000-1") }
            return trim(from: 0)
        },
    ]

    private static func replay(
        _ letters: String...,
        job: Replay.NewJob? = .init(
            text: Array("{}".utf8), old: "a", id: "a.r1", number: 1), name: String = "run", step: Int = 1,
        selection: String = "job a", stream: Replay.Stream = .dead
    ) -> Replay {
        Replay(
            name: name, step: step, selection: selection, until: EntryID(Array("9-9".utf8)), life: 1000,
            stream: stream, job: job, letters: letters.map { EntryID(Array($0.utf8)) })
    }

    /// Adds two dead letters of job a, with three pushes in total.
    private static func keepTwoDeadLetters(_ fixture: StoreFixture) throws {
        try fixture.addDeadLetter("a", 2, at: "5-1")
        try fixture.addDeadLetter("a", 1, at: "6-1")
    }

    private static let replays = [
        ScriptCase("puts dead letters into the inbox as a new job", again: .other("[0, 2, 3, ]")) { fixture in
            try fixture.split([("a", 3)])
            try keepTwoDeadLetters(fixture)
            return replay("5-1", "6-1")
        },
        ScriptCase("does the next step of a replay", again: .other("[0, 2, 3, ]")) { fixture in
            try keepTwoDeadLetters(fixture)
            try fixture.perform(replay("5-1"))
            return replay(
                "6-1", job: .init(text: Array("{}".utf8), old: "a", id: "a.r2", number: 2), step: 2)
        },
        ScriptCase("refuses a missing dead letter and takes no other", again: .refused("error GONE 6-1")) {
            fixture in
            try fixture.addDeadLetter("a", 2, at: "5-1")
            return replay("5-1", "6-1")
        },
        ScriptCase("does no step that another call has done", again: .refused("error STEP 1")) { fixture in
            try keepTwoDeadLetters(fixture)
            try fixture.perform(replay("5-1"))
            return replay("6-1")
        },
        ScriptCase("does not continue a replay of other dead letters", again: .refused("error OTHER job a")) {
            fixture in
            try fixture.addDeadLetter("a", 2, at: "5-1")
            try fixture.perform(replay("5-1"))
            return replay("6-1", step: 2, selection: "job b")
        },
        ScriptCase("assigns no number twice", again: .refused("error NUMBER 1")) { fixture in
            try keepTwoDeadLetters(fixture)
            try fixture.perform(replay("5-1"))
            return replay("6-1", name: "other")
        },
        ScriptCase("assigns no number of an existing job", again: .refused("error NUMBER 1")) { fixture in
            try fixture.split([("a.r1", 1)])
            try fixture.addDeadLetter("a", 2, at: "5-1")
            return replay("5-1")
        },
        ScriptCase("waits while the app is full", again: .any) { fixture in
            try fixture.addDeadLetter("a", 2, at: "5-1")
            try fixture.redis.run("HSET", "{pushfarm:demo}:admission", "full", "memory", "retry", "500")
            return replay("5-1")
        },
        ScriptCase("drops dead letters of any job, even when the app is full", again: .other("[0, 2, 3, ]")) {
            fixture in
            try fixture.addDeadLetter("a", 2, at: "5-1")
            try fixture.addDeadLetter("b", 1, at: "6-1")
            try fixture.redis.run("HSET", "{pushfarm:demo}:admission", "full", "memory")
            return replay("5-1", "6-1", job: nil)
        },
    ]

    private static let repeats = [
        ScriptCase("opens the record of a job that repeats another", again: .other("[0]")) { fixture in
            try fixture.take("a")
            let job = Split.Job(id: "a.r1", opens: true, submitted: 1, accepted: 1, replayOf: "a")
            return Split(
                token: fixture.token, step: 1, dropped: 1, jobs: [job],
                batches: [.init(shard: 1, lane: .high, tokens: 1, body: StoreFixture.body([("a.r1", 1)]))])
        }
    ]

    private static let refusals = [
        ScriptCase("returns a refused job to the inbox", again: .other("[0, 1, 0, ]")) { fixture in
            try fixture.redis.run("XADD", "{pushfarm:demo}:refused", "5-1", "job", "x", "original", "{}")
            return replay(
                "5-1", job: .init(text: Array("{}".utf8), old: "x", id: "x", number: 0), stream: .refused)
        },
        ScriptCase("drops a refused job", again: .other("[0, 1, 0, ]")) { fixture in
            try fixture.redis.run("XADD", "{pushfarm:demo}:refused", "5-1", "job", "x", "original", "{}")
            return replay("5-1", job: nil, stream: .refused)
        },
    ]
}

extension StoreFixture {
    /// Adds a dead letter, and updates the sums of pushes and bytes.
    func addDeadLetter(_ job: String, _ pushes: Int, at id: String, reason: String = "BadTopic") throws {
        let body = Self.body([(job, pushes)])
        var command = RESPCommand("XADD", "{pushfarm:demo}:dead_letters", id)
        for word in ["j", job, "r", reason, "s", "400", "n", "\(pushes)", "b"] { command.append(word) }
        command.append(body)
        try redis.run(command)
        try redis.run("HINCRBY", "{pushfarm:demo}:dead_letter_counts", "pushes", "\(pushes)")
        try redis.run("HINCRBY", "{pushfarm:demo}:dead_letter_counts", "bytes", "\(body.count)")
    }

    /// Adds an audit record, and updates the sum of bytes.
    func remember(_ record: String, at id: String) throws {
        try redis.run("XADD", "{pushfarm:demo}:audit", id, "a", record)
        try redis.run("HINCRBY", "{pushfarm:demo}:dead_letter_counts", "audit", "\(100 + record.utf8.count)")
    }
}
