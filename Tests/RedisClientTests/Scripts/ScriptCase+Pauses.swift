import PushModel

@testable import RedisClient
@testable import StoreProtocol

/// Pauses, cancels and immediate starts by operators.
extension ScriptCase {
    static let pauses = orders + cancellations + pausesAtCheckout + resumes + dueNow + operators

    private static func everything(_ fixture: StoreFixture, credit: Int = 50) -> Checkout {
        Checkout(
            worker: "w1", credit: credit, maxBatches: 8, known: [],
            shards: (0..<StoreFixture.shards).map { ($0, fixture.token) })
    }

    /// Cancels the job from now on.
    static func cancel(_ fixture: StoreFixture, _ job: String, from: Int64 = 0) throws {
        try fixture.perform(SetPause(.cancel(job, from: from, keep: 600), by: "me@here"))
    }

    private static func pause(_ fixture: StoreFixture, _ job: String) throws {
        try fixture.perform(SetPause(.job(job, .pause), by: "me@here"))
    }

    private static func ids(_ fixture: StoreFixture, _ list: String) throws -> [String] {
        try fixture.redis.run("LRANGE", app + list, "0", "-1").array?.compactMap(\.text) ?? []
    }

    private static let orders = [
        ScriptCase("pauses a job", again: .any) { fixture in
            try fixture.split([("a", 2)])
            return SetPause(.job("a", .pause), by: "me@here", reason: "a typo")
        },
        ScriptCase("holds back a job that is still in the inbox", again: .any) { fixture in
            try fixture.perform(PushJob(job: Array("job".utf8)))
            return SetPause(.job("a", .quarantine), by: "me@here")
        },
        ScriptCase("knows no such job", again: .same) { _ in SetPause(.job("a", .pause), by: "me@here") },
        ScriptCase("holds back no job that is finished", again: .same) { fixture in
            try fixture.redis.run("HSET", app + "job:a", "state", "finished")
            return SetPause(.job("a", .pause), by: "me@here")
        },
        ScriptCase("leaves the quarantine of a job as it is", again: .same) { fixture in
            try fixture.split([("a", 2)])
            try fixture.quarantine("a")
            return SetPause(.job("a", .pause), by: "me@here")
        },
        ScriptCase("holds back no more than a thousand jobs, and forgets who never came", again: .any) {
            fixture in
            try fixture.split([("a", 2)])
            var marks = ["HSET", app + "paused_jobs"]
            for number in 1...1000 {
                marks += ["j\(number)", number == 7 ? "5 pause me" : "4000000000000 pause me"]
            }
            try fixture.run(marks)
            return SetPause(.job("a", .pause), by: "me@here")
        },
        ScriptCase("holds back no more than a thousand jobs", again: .same) { fixture in
            try fixture.split([("a", 2)])
            var marks = ["HSET", app + "paused_jobs"]
            for number in 1...1000 { marks += ["j\(number)", "4000000000000 pause me"] }
            try fixture.run(marks)
            return SetPause(.job("a", .pause), by: "me@here")
        },
        ScriptCase("puts a device aside", again: .any) { _ in
            SetPause(.device([7, 8, 9], shard: 1), by: "me@here", reason: "loops")
        },
        ScriptCase("takes a shard out of service", again: .any) { _ in
            SetPause(.shard(1, .quarantine), by: "me@here", reason: "slow")
        },
        ScriptCase("serves a shard again", again: .any) { fixture in
            try fixture.perform(SetPause(.shard(1, .pause), by: "me@here"))
            return SetPause(.resumeShard(1), by: "me@here")
        },
        ScriptCase("calls a job back", again: .any) { fixture in
            try fixture.split([("a", 2)])
            return SetPause(.cancel("a", from: 0, keep: 600), by: "me@here")
        },
        ScriptCase("calls a job back sooner", again: .any) { fixture in
            try fixture.split([("a", 2)])
            try cancel(fixture, "a", from: 4_000_000_000_000)
            return SetPause(.cancel("a", from: 0, keep: 600), by: "me@here")
        },
        ScriptCase("calls no job back later than before", again: .same) { fixture in
            try fixture.split([("a", 2)])
            try cancel(fixture, "a")
            return SetPause(.cancel("a", from: 4_000_000_000_000, keep: 600), by: "me@here")
        },
    ]

    private static let cancellations = [
        ScriptCase("ends what was called back on the way to a worker", again: .any) { fixture in
            try fixture.split([("a", 2), ("b", 3)])
            try fixture.split(step: 2, [("c", 4)])
            for job in ["b", "c"] { try cancel(fixture, job) }
            return everything(fixture)
        },
        ScriptCase("sends what is called back from later on", again: .any) { fixture in
            try fixture.split([("a", 2)])
            try cancel(fixture, "a", from: 4_000_000_000_000)
            return everything(fixture)
        },
        ScriptCase("ends what a worker gives back of a job that was called back", again: .other("0")) {
            fixture in
            let batch = try fixture.held([("a", 2), ("b", 3)])
            try fixture.split(step: 2, [("b2", 4)])
            let other = try fixture.checkout().batches[0]
            for job in ["b", "b2"] { try cancel(fixture, job) }
            return PutBack(token: fixture.token, worker: "w1", batches: [(batch.id, 1), (other.id, 1)])
        },
        ScriptCase("ends what is split of a job that was called back", again: .other("[0]")) { fixture in
            try fixture.take("a", "b")
            for job in ["a", "b"] { try cancel(fixture, job) }
            return Split(
                token: fixture.token, step: 1, dropped: 2,
                jobs: ["a", "b", "c"].map { Split.Job(id: $0, opens: true, submitted: 3, accepted: 3) },
                batches: [
                    .init(shard: 0, lane: .high, tokens: 5, body: StoreFixture.body([("a", 2), ("c", 3)])),
                    .init(shard: 1, lane: .bulk, tokens: 1, body: StoreFixture.body([("a", 1)])),
                    .init(
                        shard: 2, lane: .high, due: 4_000_000_000_000, tokens: 3,
                        body: StoreFixture.body([("b", 3)])),
                ])
        },
        ScriptCase("ends the second part of a job that was called back", again: .other("[0]")) { fixture in
            try fixture.take("big", "next")
            try fixture.perform(fixture.firstPart())
            try cancel(fixture, "big")
            return Split(
                token: fixture.token, step: 2, dropped: 1,
                jobs: [Split.Job(id: "big", opens: false, submitted: 5, accepted: 5)],
                batches: [.init(shard: 1, lane: .high, tokens: 3, body: StoreFixture.body([("big", 3)]))])
        },
        ScriptCase("says of a job that comes that it waits", again: .other("[0]")) { fixture in
            try fixture.take("a", "b")
            try fixture.perform(SetPause(.job("a", .quarantine), by: "me@here", reason: "two words"))
            return Split(
                token: fixture.token, step: 1, dropped: 2,
                jobs: ["a", "b"].map { Split.Job(id: $0, opens: true, submitted: 1, accepted: 1) },
                batches: [
                    .init(shard: 0, lane: .high, tokens: 2, body: StoreFixture.body([("a", 1), ("b", 1)]))
                ])
        },
        ScriptCase("tries nothing again of a job that was called back", again: .other("[0, 0]")) { fixture in
            let batch = try fixture.held([("a", 3), ("b", 2)])
            _ = try fixture.report(batch, 0..<5, entry: StoreFixture.delivered("a", 5))
            try cancel(fixture, "a")
            var settlement = Settlement(entry: try fixture.results()[0].id)
            var (a, b) = (Settlement.Job(id: "a"), Settlement.Job(id: "b"))
            (a.delivered, a.waiting, b.waiting) = (1, 2, 2)
            settlement.jobs = [a, b]
            settlement.retries = [
                .init(
                    shard: 1, lane: .high, delay: .seconds(9), tokens: 2,
                    body: StoreFixture.body([("a", 2)], attempt: 1)),
                .init(
                    shard: 1, lane: .high, delay: .seconds(9), tokens: 2,
                    body: StoreFixture.body([("b", 2)], attempt: 1)),
            ]
            return Settle([settlement])
        },
        ScriptCase("ends a parked rest that was called back with the last report", again: .any) { fixture in
            let batch = try fixture.held([("q", 1), ("a", 2)])
            try fixture.set(batch.id, to: "w1|1|3||2|p..")
            try fixture.redis.run("HINCRBY", app + "job:q", "in_flight", "-1")
            try cancel(fixture, "q")
            return fixture.reportRequest(batch.id, 1..<3, entry: StoreFixture.delivered("a", 2))
        },
        ScriptCase("ends batches that are ready, delayed and parked", again: .any) { fixture in
            try fixture.split([("a", 2)])
            try fixture.split(step: 2, [("b", 2), ("a2", 2)])
            try fixture.split(step: 3, [("a3", 3)], due: 4_000_000_000_000)
            try fixture.split(step: 4, [("a4", 1), ("b2", 1)], due: 4_000_000_000_000)
            try fixture.split(step: 5, [("q", 2)], shard: 2)
            try fixture.quarantine("q")
            _ = try fixture.perform(
                Checkout(
                    worker: "w1", credit: 9, maxBatches: 1, known: [], shards: [(2, fixture.token)]))
            try fixture.split(step: 6, [("f", 2)], shard: 3)
            _ = try fixture.perform(
                Checkout(
                    worker: "w1", credit: 9, maxBatches: 1, known: [], shards: [(3, fixture.token)]))
            for job in ["a", "a2", "a3", "a4", "q", "f"] { try cancel(fixture, job) }
            return CancelBatches(
                try fixture.redis.run("HKEYS", app + "states").array?.compactMap(\.text).sorted() ?? [])
        },
        ScriptCase("ends what can be read only", again: .any) { fixture in
            for step in 1...2 { try fixture.split(step: step, [("j\(step)", 2)]) }
            let batches = try ids(fixture, "ready:01")
            try fixture.redis.run("HSET", app + "batches", batches[0], "?")
            try cancel(fixture, "j2")
            return CancelBatches(batches + ["01.h.none.1"])
        },
    ]

    private static let pausesAtCheckout = [
        ScriptCase("parks what is for a device that was put aside", again: .any) { fixture in
            try fixture.split([("a", 3), ("b", 2)])
            try fixture.split(step: 2, [("c", 1)])
            try fixture.split(step: 3, [("d", 3)], shard: 2)
            try fixture.perform(SetPause(.device(StoreFixture.tokens(1)[0], shard: 1), by: "me@here"))
            return everything(fixture)
        },
        ScriptCase("finds a device behind payloads of their own", again: .any) { fixture in
            try fixture.take("a")
            var builder = BatchBuilder()
            let head = SegmentHead(jobID: "a", options: PushOptions(), payloadPerPush: true)
            Array("".utf8).withUnsafeBytes { builder.begin(head, payload: $0) }
            for token in StoreFixture.tokens(3) {
                token.withUnsafeBytes { token in
                    Array("{\"aps\":{}}".utf8).withUnsafeBytes { builder.append(token: token, payload: $0) }
                }
            }
            let body = builder.finish()!
            try fixture.perform(
                Split(
                    token: fixture.token, step: 1, dropped: 1,
                    jobs: [Split.Job(id: "a", opens: true, submitted: 3, accepted: 3)],
                    batches: [.init(shard: 1, lane: .high, tokens: 3, body: body)]))
            try fixture.perform(
                SetPause(.device(StoreFixture.tokens(1, from: 2)[0], shard: 1), by: "me@here"))
            return everything(fixture)
        },
        ScriptCase("is not told a device by what a payload says", again: .any) { fixture in
            try fixture.split([("a", 2)])
            try fixture.perform(SetPause(.device(Array("{}".utf8), shard: 1), by: "me@here"))
            return everything(fixture)
        },
    ]

    private static let resumes = [
        ScriptCase(
            "resumes a job that an operator has paused, the oldest first", again: .other("[0, -1, 0, 0]")
        ) {
            fixture in
            try fixture.split([("a", 2)])
            try fixture.split(step: 2, [("a2", 1)])
            try fixture.split(step: 3, [("a3", 1)])
            for job in ["a", "a2", "a3"] { try pause(fixture, job) }
            _ = try fixture.checkout()
            try fixture.split(step: 4, [("b", 1)])
            return ResumePaused(.pausedJob("a"))
        },
        ScriptCase("resumes no job that ended workers", again: .same) { fixture in
            try fixture.split([("a", 2)])
            try fixture.quarantine("a")
            _ = try fixture.checkout()
            return ResumePaused(.pausedJob("a"))
        },
        ScriptCase("lets go on what nobody has paused", again: .other("[0, -1, 0, 0]")) { fixture in
            for (step, job) in ["a", "b"].enumerated() { try fixture.split(step: step + 1, [(job, 2)]) }
            try pause(fixture, "a")
            try fixture.quarantine("b")
            try fixture.perform(SetPause(.device(StoreFixture.tokens(1)[0], shard: 2), by: "me@here"))
            _ = try fixture.checkout()
            return ResumePaused()
        },
        ScriptCase("lets a device go on", again: .other("[0, -1, 0, 0]")) { fixture in
            try fixture.split([("a", 1)])
            try fixture.split(step: 2, [("b", 1)])
            try fixture.quarantine("b")
            try fixture.perform(SetPause(.device(StoreFixture.tokens(1)[0], shard: 1), by: "me@here"))
            _ = try fixture.checkout()
            return ResumePaused(.device(StoreFixture.tokens(1)[0]))
        },
        ScriptCase("ends a parked batch whose job was called back", again: .other("[0, -1, 0, 0]")) {
            fixture in
            for (step, job) in ["a", "b"].enumerated() { try fixture.split(step: step + 1, [(job, 2)]) }
            for job in ["a", "b"] { try pause(fixture, job) }
            _ = try fixture.checkout()
            try cancel(fixture, "a")
            return ResumePaused()
        },
    ]

    private static let dueNow = [
        ScriptCase("makes due what waits of a job, and nothing else", again: .other("[0, 0, -1]")) {
            fixture in
            try fixture.split([("a", 2)], due: 4_000_000_000_002)
            try fixture.split(step: 2, [("a2", 1)], due: 4_000_000_000_001)
            try fixture.split(step: 3, [("b", 3), ("a3", 2)], shard: 2, lane: .bulk, due: 4_000_000_000_003)
            try fixture.split(step: 4, [("c", 2)])
            return PromoteJob(job: "a2")
        },
        ScriptCase("parts a batch of which only some is made due", again: .other("[0, 0, -1]")) { fixture in
            try fixture.split([("a", 2), ("b", 3)], lane: .bulk, due: 4_000_000_000_000)
            return PromoteJob(job: "a")
        },
        ScriptCase("looks at a portion of what waits", again: .same) { fixture in
            for step in 1...3 {
                try fixture.split(step: step, [("j\(step)", 2)], due: 4_000_000_000_000 + Int64(step))
            }
            return PromoteJob(job: "j3", start: 0, limit: 2)
        },
        ScriptCase("leaves what nobody can read", again: .same) { fixture in
            let batch = try fixture.delayed([("a", 2)])
            try fixture.redis.run("HSET", app + "batches", "\(batch)", "?")
            return PromoteJob(job: "a")
        },
    ]

    private static let operators = [
        ScriptCase("pauses for an operator what was paused", again: .other("0")) { fixture in
            try fixture.perform(PauseApp(reason: "InvalidProviderToken", fingerprint: "abc"))
            return PauseApp(reason: "by operator me@here", by: "me@here")
        },
        ScriptCase("keeps what an operator has paused", again: .same) { fixture in
            try fixture.perform(PauseApp(reason: "by operator me@here", by: "me@here"))
            return PauseApp(reason: "InvalidProviderToken", fingerprint: "abc")
        },
        ScriptCase("does not resume by itself what an operator has paused", again: .same) { fixture in
            try fixture.perform(PauseApp(reason: "by operator me@here", by: "me@here"))
            return ResumeApp(isOwn: true)
        },
        ScriptCase("resumes what an operator has paused", again: .other("0")) { fixture in
            try fixture.perform(PauseApp(reason: "by operator me@here", by: "me@here"))
            return ResumeApp()
        },
        ScriptCase("resumes by itself what it has paused", again: .other("0")) { fixture in
            try fixture.perform(PauseApp(reason: "why", fingerprint: "abc"))
            return ResumeApp(isOwn: true)
        },
        ScriptCase("sets a rate", again: .other("0")) { fixture in
            try fixture.perform(SetRate(.off, by: "you@there"))
            return SetRate(.limit(50), by: "me@here")
        },
        ScriptCase("forgets a rate", again: .other("0")) { fixture in
            try fixture.perform(SetRate(.limit(2.5), by: "you@there"))
            return SetRate(nil, by: "me@here")
        },
        ScriptCase("closes an app to producers", again: .other("0")) { _ in
            SetAdmission(.closed, by: "me@here")
        },
        ScriptCase("opens an app that is full", again: .other("0")) { fixture in
            try open(fixture, 10)
            try fixture.perform(updateAdmission())
            return SetAdmission(.open, by: "me@here")
        },
        ScriptCase("lets a closed app judge by itself again", again: .other("0")) { fixture in
            try fixture.perform(SetAdmission(.closed, by: "me@here"))
            return SetAdmission(nil, by: "me@here")
        },
        ScriptCase("leaves a full app full when it may judge by itself", again: .other("0")) { fixture in
            try fixture.perform(SetAdmission(.open, by: "me@here"))
            try fixture.redis.run("HSET", app + "admission", "full", "backlog")
            return SetAdmission(nil, by: "me@here")
        },
        ScriptCase("stays closed, whatever there is room for", again: .same) { fixture in
            try fixture.perform(SetAdmission(.closed, by: "me@here"))
            return updateAdmission(.relieved)
        },
        ScriptCase("stays open, however full it is", again: .same) { fixture in
            try fixture.perform(SetAdmission(.open, by: "me@here"))
            return updateAdmission(.full)
        },
    ]
}
