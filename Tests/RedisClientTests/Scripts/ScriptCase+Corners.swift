import PushModel

@testable import RedisClient
@testable import StoreProtocol

/// Cases in which several unusual conditions hold at once. Each case notices a fault that no other test noticed;
/// `make mutants` found these faults.
extension ScriptCase {
    static let corners = reports + checkouts + settlements + losses.map(Self.loss) + reclaims + splits

    /// The batch at `place` in the queue of shard 1.
    static func first(_ fixture: StoreFixture, _ place: Int = 0) throws -> BatchID {
        BatchID(try fixture.redis.run("LINDEX", app + "ready:01", "\(place)").bytes ?? [])
    }

    private static func checkout(
        _ fixture: StoreFixture, credit: Int = 100, most: Int = 8, known: [BatchID]? = nil
    ) -> Checkout {
        Checkout(
            worker: "w1", credit: credit, maxBatches: most, known: known,
            shards: (0..<StoreFixture.shards).map { ($0, fixture.token) })
    }

    /// Returns a batch that worker w1 put back and worker w2 checked out. The pushes of job q in it are quarantined.
    private static func batchOfSecondWorker(_ fixture: StoreFixture, _ jobs: [(id: String, tokens: Int)])
        throws
        -> BatchID
    {
        let batch = try fixture.held(jobs)
        try fixture.perform(PutBack(token: fixture.token, worker: "w1", batches: [(batch.id, 1)]))
        try fixture.quarantine("q")
        _ = try fixture.checkout("w2")
        return batch.id
    }

    private static let reports = [
        ScriptCase("takes late facts about a paused first push", again: .other("[xx.., 4, 2]")) {
            fixture in
            let batch = try batchOfSecondWorker(fixture, [("q", 1), ("a", 3)])
            return fixture.reportRequest(batch, 0..<2, entry: StoreFixture.delivered("q", 2))
        },
        ScriptCase("takes late facts about a paused last push", again: .other("[...x, 4, 2]")) {
            fixture in
            let batch = try batchOfSecondWorker(fixture, [("a", 3), ("q", 1)])
            return fixture.reportRequest(batch, 3..<4, entry: StoreFixture.delivered("q", 1))
        },
        ScriptCase("raises no credit while the first push is in flight alone", again: .same) { fixture in
            let batch = try fixture.held([("a", 9)])
            try fixture.set(batch.id, to: "w1|1|1|9,2,1,1,0,0,0,0|9|.........")
            return fixture.reportRequest(batch.id, 0..<0, wanted: 9, entry: [])
        },
        ScriptCase("raises the credit up to the request", again: .same) { fixture in
            let batch = try fixture.held([("a", 9)], credit: 2)
            return fixture.reportRequest(batch.id, 0..<0, wanted: 5, entry: [])
        },
    ]

    /// Adds to the queue:
    /// `count` ids without a batch, an unreadable batch, a batch of a quarantined job, and a batch that can be checked out.
    static func addUnusableBatches(_ fixture: StoreFixture, _ count: Int) throws {
        for number in 1...count - 2 {
            try fixture.redis.run("RPUSH", app + "ready:01", "01.h.none.\(number)")
        }
        for (step, job) in ["unread", "q", "good"].enumerated() {
            try fixture.split(step: step + 1, [(job, 2)])
        }
        try fixture.redis.run("HSET", app + "batches", "\(first(fixture, count - 2))", "?")
        try fixture.quarantine("q")
        try fixture.redis.run("RPUSH", app + "paused", "01.h.other.1")
    }

    private static let checkouts = [
        ScriptCase("assigns a batch behind 31 that cannot be assigned", again: .any) { fixture in
            try addUnusableBatches(fixture, 31)
            return checkout(fixture)
        },
        ScriptCase("assigns a batch behind one without a body", again: .any) { fixture in
            for step in 1...2 { try fixture.split(step: step, [("j\(step)", 2)]) }
            try fixture.redis.run("HDEL", app + "batches", "\(first(fixture))")
            return checkout(fixture)
        },
        ScriptCase("opens a first push after the release of its job", again: .any) { fixture in
            try fixture.split([("a", 1), ("b", 2)])
            try fixture.set(first(fixture), to: "|1|0||2|p..")
            return checkout(fixture)
        },
        ScriptCase("opens a last push after the release of its job", again: .any) { fixture in
            try fixture.split([("a", 2), ("b", 1)])
            try fixture.set(first(fixture), to: "|1|0||2|..p")
            return checkout(fixture)
        },
        ScriptCase(
            "grants pushes behind reported ones, and the remaining credit to the next batch", again: .any
        ) {
            fixture in
            for step in 1...2 { try fixture.split(step: step, [("j\(step)", 4)]) }
            try fixture.set(first(fixture), to: "|1|0||2|xx..")
            return checkout(fixture, credit: 3)
        },
        ScriptCase("grants all pushes after the suspects have outcomes", again: .any) { fixture in
            try fixture.split([("a", 5)])
            try fixture.set(first(fixture), to: "|1|0|2,1,1,1,0,0,0,0|3|xx...")
            return checkout(fixture)
        },
        ScriptCase("assigns batches of all shards up to the request", again: .any) { fixture in
            for step in 1...2 { try fixture.split(step: step, [("j\(step)", 2)], shard: step) }
            return checkout(fixture, most: 1, known: [])
        },
        ScriptCase("assigns only known batches to a paused app's worker", again: .same) { fixture in
            for step in 1...2 { try fixture.split(step: step, [("j\(step)", 2)]) }
            _ = try fixture.checkout(most: 1)
            try fixture.perform(PauseApp(reason: "why", fingerprint: "abc"))
            return checkout(fixture, known: [])
        },
    ]

    private static let settlements = [
        ScriptCase("settles an entry of three jobs", again: .other("[0, 0]")) { fixture in
            let batch = try fixture.held([("a", 3), ("b", 2), ("c", 2)])
            _ = try fixture.report(batch, 0..<6, entry: StoreFixture.delivered("a", 6))
            var settlement = Settlement(entry: try fixture.results()[0].id)
            settlement.jobs = [("a", 3), ("b", 2), ("c", 1)].map { id, count in
                var job = Settlement.Job(id: id)
                (job.delivered, job.failed, job.reasons) = (count - 1, 1, ["r\(id)": 1])
                return job
            }
            return Settle([settlement])
        }
    ]

    /// For each case: its name, the state of a batch of job a without the worker's name, and how the batch's worker was lost.
    private static let losses: [(what: String, state: String, loss: WorkerExit)] = [
        (
            "remembers a single suspect that is among others again", "2|3|3,1,1,0,3,2,1,0|2|x..",
            .kill(hadSent: true, recent: 4)
        ),
        (
            "restarts the count for another single suspect, the first push", "2|1|3,1,1,0,3,2,1,0|3|...",
            .kill(hadSent: true, recent: 4)
        ),
        (
            "keeps the groups of a crash after a kill", "2|4|5,3,1,1,0,0,0,0|6|......",
            .kill(hadSent: true, recent: 1)
        ),
        (
            "fails no single suspect of a third kill", "2|2|3,1,1,0,2,2,1,0|2|x..",
            .kill(hadSent: true, recent: 3)
        ),
        (
            "fails the first push after a fourth kill", "2|1|3,1,1,0,3,1,1,0|3|...",
            .kill(hadSent: true, recent: 4)
        ),
        (
            "clears the suspicion after one kill, and keeps the crashes before any send",
            "2|0|3,6,0,0,1,0,0,1|3|...",
            .kill(hadSent: true, recent: 1)
        ),
        (
            "keeps the count of crashes when a killed worker sent no push", "2|0|3,1,1,2,0,2,1,0|3|...",
            .kill(hadSent: true, recent: 1)
        ),
        (
            "keeps the count of kills when a crashed worker sent no push", "2|0|3,1,1,0,1,2,1,0|3|...",
            .crash(hadSent: true)
        ),
        (
            "clears the count of kills and keeps that of crashes", "2|0|3,1,1,1,1,2,1,0|3|...",
            .kill(hadSent: true, recent: 1)
        ),
        ("counts a kill before any send", "2|0||3|...", .kill(hadSent: false, recent: 1)),
        (
            "counts no kill before any send among unrelated kills", "2|0||3|...",
            .kill(hadSent: false, recent: 2)
        ),
        ("counts a crash before any send against the only job", "2|0||3|...", .crash(hadSent: false)),
        (
            "fails the first push, the only suspect, after a third crash", "2|1|1,1,1,2,0,1,1,0|3|...",
            .crash(hadSent: true)
        ),
        ("restarts the count behind one suspect", "2|3|1,1,1,2,0,1,1,0|2|x..", .crash(hadSent: true)),
        ("quarantines nothing when no job is suspect", "2|0|0,0,0,0,0,0,0,5|3|...", .regular),
    ]

    private static func loss(_ what: String, _ state: String, _ loss: WorkerExit) -> ScriptCase {
        ScriptCase(what, again: .other("[0, 0, 0, 0, 0, [], [], []]")) { fixture in
            let batch = try fixture.held([("a", state.count { $0 == "." || $0 == "x" })])
            try fixture.set(batch.id, to: "w1|" + state)
            return fixture.reclaim(["w1"], loss)
        }
    }

    private static let reclaims = [
        ScriptCase("counts no crash against two jobs whose pushes were in flight alone", again: .any) {
            fixture in
            let batch = try fixture.held([("a", 1), ("b", 2)])
            try fixture.set(batch.id, to: "w1|2|2|3,2,1,1,0,0,0,0|3|...")
            return fixture.reclaim(["w1"], .crash(hadSent: true))
        },
        ScriptCase("closes the only push that was sent at most once", again: .any) { fixture in
            try fixture.split([("a", 3)], delivery: .atMostOnce)
            _ = try fixture.checkout(credit: 1)
            return fixture.reclaim(["w1"])
        },
        ScriptCase("quarantines a batch behind another, and reclaims the next", again: .any) { fixture in
            let batch = try fixture.held([("a", 2)])
            _ = try fixture.held(step: 2, [("b", 2)])
            try fixture.redis.run("RPUSH", app + "paused", "01.h.other.1")
            try fixture.set(batch.id, to: "w1|5|0|0,0,0,0,0,0,0,4|2|..")
            return fixture.reclaim(["w1"], .crash(hadSent: false))
        },
        ScriptCase("counts no crash against a job without a record", again: .any) { fixture in
            let batch = try fixture.held([("a", 2)])
            try fixture.set(batch.id, to: "w1|2|2|2,1,1,1,0,0,0,0|2|..")
            try fixture.redis.run("DEL", app + "job:a")
            return fixture.reclaim(["w1"], .crash(hadSent: true))
        },
        ScriptCase("names another owner's shards and reclaims from the others", again: .any) {
            fixture in
            for step in 1...3 { try fixture.split(step: step, [("j\(step)", 2)], shard: step) }
            _ = try fixture.checkout()
            for shard in ["01", "03"] { try fixture.redis.run("HSET", app + "owners", shard, "2:n9:x") }
            return fixture.reclaim(["w1"])
        },
    ]

    /// The time some hours ago by the Redis clock.
    private static func ago(_ fixture: StoreFixture, hours: Int64) throws -> Int64 {
        let seconds = try fixture.redis.run("TIME").array?.first?.text.flatMap { Int64($0) } ?? 0
        return (seconds - hours * 3600) * 1000
    }

    private static let splits = [
        ScriptCase("keeps batches of one list in their order", again: .other("[0]")) { fixture in
            try fixture.take("a")
            let batches = (1...3).map {
                Split.NewBatch(shard: 1, lane: .high, tokens: $0, body: StoreFixture.body([("new", $0)]))
            }
            return Split(
                token: fixture.token, step: 1, dropped: 1,
                jobs: [Split.Job(id: "new", opens: true, submitted: 6, accepted: 6)], batches: batches)
        },
        ScriptCase("splits a job without pushes", again: .other("[0]")) { fixture in
            try fixture.take("a")
            return Split(
                token: fixture.token, step: 1, dropped: 1,
                jobs: [Split.Job(id: "new", opens: true, submitted: 1, accepted: 0, malformed: 1)],
                batches: [])
        },
        ScriptCase("finds a known id behind events", again: .refused("error EXISTS old")) { fixture in
            try fixture.redis.run("HSET", app + "job:old", "state", "open", "created_at", "5")
            try fixture.take("a", "b")
            var event = FarmEvent(.tokenMalformed)
            event.add("job", "new")
            return Split(
                token: fixture.token, step: 1, dropped: 2,
                jobs: [
                    Split.Job(id: "new", opens: true, submitted: 2, accepted: 0, events: [event, event]),
                    Split.Job(id: "old", opens: true, submitted: 1, accepted: 0),
                ], batches: [])
        },
        ScriptCase("drops the one job record above the limit and stops there", again: .any) { fixture in
            for (place, job) in ["old1", "old2"].enumerated() {
                try ended(fixture, job, at: farAhead + 5 * Int64(place))
            }
            try fixture.redis.run("ZADD", app + "jobs", "\(farAhead + 1)", "gone")
            try fixture.take("a")
            return split(fixture, retention: kept(3))
        },
        ScriptCase("drops jobs that expired hours ago", again: .any) { fixture in
            for (hours, job) in [(108, "gone1"), (107, "gone2")] {
                try fixture.redis.run("ZADD", app + "jobs", "\(ago(fixture, hours: Int64(hours)))", job)
            }
            try fixture.take("a")
            return split(fixture)
        },
        ScriptCase("leaves jobs of half the age limit in the list", again: .any) { fixture in
            try fixture.redis.run("ZADD", app + "jobs", "\(ago(fixture, hours: 36))", "gone")
            try fixture.take("a")
            return split(fixture)
        },
        ScriptCase("drops no job record that finished late when the limit is reached", again: .any) {
            fixture in
            try ended(fixture, "late", at: farAhead, place: longAgo)
            try fixture.take("a")
            return split(fixture, retention: kept(2))
        },
    ]
}
