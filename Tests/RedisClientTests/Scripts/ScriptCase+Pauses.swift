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

    /// Cancels the job; `from` is the start in Unix milliseconds, or 0 for now.
    static func cancel(_ fixture: StoreFixture, _ job: String, from: Int64 = 0) throws {
        try fixture.perform(ChangePauses(.cancel(job, from: from, keep: 600), by: "me@here"))
    }

    private static func pause(_ fixture: StoreFixture, _ job: String) throws {
        try fixture.perform(ChangePauses(.job(job, .pause), by: "me@here"))
    }

    private static func ids(_ fixture: StoreFixture, _ list: String) throws -> [String] {
        try fixture.redis.run("LRANGE", app + list, "0", "-1").array?.compactMap(\.text) ?? []
    }

    private static let orders = [
        ScriptCase("pauses a job", again: .any) { fixture in
            try fixture.split([("a", 2)])
            return ChangePauses(.job("a", .pause), by: "me@here", reason: "a typo")
        },
        ScriptCase("pauses a job that is still in the inbox", again: .any) { fixture in
            try fixture.perform(PushJob(job: Array("job".utf8)))
            return ChangePauses(.job("a", .quarantine), by: "me@here")
        },
        ScriptCase("refuses an unknown job", again: .same) { _ in
            ChangePauses(.job("a", .pause), by: "me@here")
        },
        ScriptCase("pauses no finished job", again: .same) { fixture in
            try fixture.redis.run("HSET", app + "job:a", "state", "finished")
            return ChangePauses(.job("a", .pause), by: "me@here")
        },
        ScriptCase("leaves the quarantine of a job unchanged", again: .same) { fixture in
            try fixture.split([("a", 2)])
            try fixture.quarantine("a")
            return ChangePauses(.job("a", .pause), by: "me@here")
        },
        ScriptCase("pauses at most a thousand jobs, and forgets those that never arrived", again: .any) {
            fixture in
            try fixture.split([("a", 2)])
            var marks = ["HSET", app + "paused_jobs"]
            for number in 1...1000 {
                marks += ["j\(number)", number == 7 ? "5 pause me" : "4000000000000 pause me"]
            }
            try fixture.run(marks)
            return ChangePauses(.job("a", .pause), by: "me@here")
        },
        ScriptCase("pauses at most a thousand jobs", again: .same) { fixture in
            try fixture.split([("a", 2)])
            var marks = ["HSET", app + "paused_jobs"]
            for number in 1...1000 { marks += ["j\(number)", "4000000000000 pause me"] }
            try fixture.run(marks)
            return ChangePauses(.job("a", .pause), by: "me@here")
        },
        ScriptCase("pauses a token", again: .any) { _ in
            ChangePauses(.token([7, 8, 9], shard: 1), by: "me@here", reason: "loops")
        },
        ScriptCase("pauses a shard", again: .any) { _ in
            ChangePauses(.shard(1, .quarantine), by: "me@here", reason: "slow")
        },
        ScriptCase("resumes a shard", again: .any) { fixture in
            try fixture.perform(ChangePauses(.shard(1, .pause), by: "me@here"))
            return ChangePauses(.resumeShard(1), by: "me@here")
        },
        ScriptCase("cancels a job", again: .any) { fixture in
            try fixture.split([("a", 2)])
            return ChangePauses(.cancel("a", from: 0, keep: 600), by: "me@here")
        },
        ScriptCase("cancels a job earlier", again: .any) { fixture in
            try fixture.split([("a", 2)])
            try cancel(fixture, "a", from: 4_000_000_000_000)
            return ChangePauses(.cancel("a", from: 0, keep: 600), by: "me@here")
        },
        ScriptCase("does not postpone a cancellation", again: .same) { fixture in
            try fixture.split([("a", 2)])
            try cancel(fixture, "a")
            return ChangePauses(.cancel("a", from: 4_000_000_000_000, keep: 600), by: "me@here")
        },
    ]

    private static let cancellations = [
        ScriptCase("cancels pushes of a cancelled job at their checkout", again: .any) { fixture in
            try fixture.split([("a", 2), ("b", 3)])
            try fixture.split(step: 2, [("c", 4)])
            for job in ["b", "c"] { try cancel(fixture, job) }
            return everything(fixture)
        },
        ScriptCase("sends pushes of a job whose cancellation is not due", again: .any) { fixture in
            try fixture.split([("a", 2)])
            try cancel(fixture, "a", from: 4_000_000_000_000)
            return everything(fixture)
        },
        ScriptCase("cancels returned pushes of a cancelled job", again: .other("0")) {
            fixture in
            let batch = try fixture.held([("a", 2), ("b", 3)])
            try fixture.split(step: 2, [("b2", 4)])
            let other = try fixture.checkout().batches[0]
            for job in ["b", "b2"] { try cancel(fixture, job) }
            return PutBack(token: fixture.token, worker: "w1", batches: [(batch.id, 1), (other.id, 1)])
        },
        ScriptCase("cancels split pushes of a cancelled job", again: .other("[0]")) { fixture in
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
        ScriptCase("cancels the second part of a cancelled job", again: .other("[0]")) { fixture in
            try fixture.take("big", "next")
            try fixture.perform(fixture.firstPart())
            try cancel(fixture, "big")
            return Split(
                token: fixture.token, step: 2, dropped: 1,
                jobs: [Split.Job(id: "big", opens: false, submitted: 5, accepted: 5)],
                batches: [.init(shard: 1, lane: .high, tokens: 3, body: StoreFixture.body([("big", 3)]))])
        },
        ScriptCase("returns that a paused job waits", again: .other("[0]")) { fixture in
            try fixture.take("a", "b")
            try fixture.perform(ChangePauses(.job("a", .quarantine), by: "me@here", reason: "two words"))
            return Split(
                token: fixture.token, step: 1, dropped: 2,
                jobs: ["a", "b"].map { Split.Job(id: $0, opens: true, submitted: 1, accepted: 1) },
                batches: [
                    .init(shard: 0, lane: .high, tokens: 2, body: StoreFixture.body([("a", 1), ("b", 1)]))
                ])
        },
        ScriptCase("retries no push of a cancelled job", again: .other("[0, 0]")) { fixture in
            let batch = try fixture.held([("a", 3), ("b", 2)])
            _ = try fixture.report(batch, 0..<5, entry: StoreFixture.delivered("a", 5))
            try cancel(fixture, "a")
            var settlement = Settlement(entry: try fixture.results()[0].id)
            var (a, b) = (Settlement.Job(id: "a"), Settlement.Job(id: "b"))
            (a.delivered, a.delayed, b.delayed) = (1, 2, 2)
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
        ScriptCase("cancels the paused rest of a cancelled job with the last report", again: .any) {
            fixture in
            let batch = try fixture.held([("q", 1), ("a", 2)])
            try fixture.set(batch.id, to: "w1|1|3||2|p..")
            try fixture.redis.run("HINCRBY", app + "job:q", "in_flight", "-1")
            try cancel(fixture, "q")
            return fixture.reportRequest(batch.id, 1..<3, entry: StoreFixture.delivered("a", 2))
        },
        ScriptCase("cancels ready, delayed and paused batches", again: .any) { fixture in
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
        ScriptCase("cancels only readable batches", again: .any) { fixture in
            for step in 1...2 { try fixture.split(step: step, [("j\(step)", 2)]) }
            let batches = try ids(fixture, "ready:01")
            try fixture.redis.run("HSET", app + "batches", batches[0], "?")
            try cancel(fixture, "j2")
            return CancelBatches(batches + ["01.h.none.1"])
        },
    ]

    private static let pausesAtCheckout = [
        ScriptCase("pauses a batch with a push to a paused token", again: .any) { fixture in
            try fixture.split([("a", 3), ("b", 2)])
            try fixture.split(step: 2, [("c", 1)])
            try fixture.split(step: 3, [("d", 3)], shard: 2)
            try fixture.perform(ChangePauses(.token(StoreFixture.tokens(1)[0], shard: 1), by: "me@here"))
            return everything(fixture)
        },
        ScriptCase("finds a paused token behind payloads of single pushes", again: .any) { fixture in
            try fixture.take("a")
            var builder = BatchBuilder()
            let head = JobPartHead(jobID: "a", options: PushOptions(), payloadPerPush: true)
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
                ChangePauses(.token(StoreFixture.tokens(1, from: 2)[0], shard: 1), by: "me@here"))
            return everything(fixture)
        },
        ScriptCase("mistakes no payload for a paused token", again: .any) { fixture in
            try fixture.split([("a", 2)])
            try fixture.perform(ChangePauses(.token(Array("{}".utf8), shard: 1), by: "me@here"))
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
        ScriptCase("resumes no job that crashed workers", again: .same) { fixture in
            try fixture.split([("a", 2)])
            try fixture.quarantine("a")
            _ = try fixture.checkout()
            return ResumePaused(.pausedJob("a"))
        },
        ScriptCase("releases batches that no operator has paused", again: .other("[0, -1, 0, 0]")) {
            fixture in
            for (step, job) in ["a", "b"].enumerated() { try fixture.split(step: step + 1, [(job, 2)]) }
            try pause(fixture, "a")
            try fixture.quarantine("b")
            try fixture.perform(ChangePauses(.token(StoreFixture.tokens(1)[0], shard: 2), by: "me@here"))
            _ = try fixture.checkout()
            return ResumePaused()
        },
        ScriptCase("resumes a token", again: .other("[0, -1, 0, 0]")) { fixture in
            try fixture.split([("a", 1)])
            try fixture.split(step: 2, [("b", 1)])
            try fixture.quarantine("b")
            try fixture.perform(ChangePauses(.token(StoreFixture.tokens(1)[0], shard: 1), by: "me@here"))
            _ = try fixture.checkout()
            return ResumePaused(.token(StoreFixture.tokens(1)[0]))
        },
        ScriptCase("cancels a paused batch whose job was cancelled", again: .other("[0, -1, 0, 0]")) {
            fixture in
            for (step, job) in ["a", "b"].enumerated() { try fixture.split(step: step + 1, [(job, 2)]) }
            for job in ["a", "b"] { try pause(fixture, job) }
            _ = try fixture.checkout()
            try cancel(fixture, "a")
            return ResumePaused()
        },
    ]

    private static let dueNow = [
        ScriptCase("makes only the job's delayed pushes due", again: .other("[0, 0, -1]")) {
            fixture in
            try fixture.split([("a", 2)], due: 4_000_000_000_002)
            try fixture.split(step: 2, [("a2", 1)], due: 4_000_000_000_001)
            try fixture.split(step: 3, [("b", 3), ("a3", 2)], shard: 2, lane: .bulk, due: 4_000_000_000_003)
            try fixture.split(step: 4, [("c", 2)])
            return PromoteJob(job: "a2")
        },
        ScriptCase("divides a batch when only some of its pushes become due", again: .other("[0, 0, -1]")) {
            fixture in
            try fixture.split([("a", 2), ("b", 3)], lane: .bulk, due: 4_000_000_000_000)
            return PromoteJob(job: "a")
        },
        ScriptCase("reads a portion of the delayed batches", again: .same) { fixture in
            for step in 1...3 {
                try fixture.split(step: step, [("j\(step)", 2)], due: 4_000_000_000_000 + Int64(step))
            }
            return PromoteJob(job: "j3", start: 0, limit: 2)
        },
        ScriptCase("leaves unreadable batches", again: .same) { fixture in
            let batch = try fixture.delayed([("a", 2)])
            try fixture.redis.run("HSET", app + "batches", "\(batch)", "?")
            return PromoteJob(job: "a")
        },
    ]

    private static let operators = [
        ScriptCase("pauses a paused app for an operator", again: .other("0")) { fixture in
            try fixture.perform(PauseApp(reason: "InvalidProviderToken", fingerprint: "abc"))
            return PauseApp(reason: "by operator me@here", by: "me@here")
        },
        ScriptCase("keeps the pause of an operator", again: .same) { fixture in
            try fixture.perform(PauseApp(reason: "by operator me@here", by: "me@here"))
            return PauseApp(reason: "InvalidProviderToken", fingerprint: "abc")
        },
        ScriptCase("does not end the pause of an operator by itself", again: .same) { fixture in
            try fixture.perform(PauseApp(reason: "by operator me@here", by: "me@here"))
            return ResumeApp(isOwn: true)
        },
        ScriptCase("ends the pause of an operator", again: .other("0")) { fixture in
            try fixture.perform(PauseApp(reason: "by operator me@here", by: "me@here"))
            return ResumeApp()
        },
        ScriptCase("ends its own pause by itself", again: .other("0")) { fixture in
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
        ScriptCase("returns a closed app to automatic admission", again: .other("0")) { fixture in
            try fixture.perform(SetAdmission(.closed, by: "me@here"))
            return SetAdmission(nil, by: "me@here")
        },
        ScriptCase("leaves a full app closed under automatic admission", again: .other("0")) { fixture in
            try fixture.perform(SetAdmission(.open, by: "me@here"))
            try fixture.redis.run("HSET", app + "admission", "full", "backlog")
            return SetAdmission(nil, by: "me@here")
        },
        ScriptCase("stays closed below all limits", again: .same) { fixture in
            try fixture.perform(SetAdmission(.closed, by: "me@here"))
            return updateAdmission(.relieved)
        },
        ScriptCase("stays open above all limits", again: .same) { fixture in
            try fixture.perform(SetAdmission(.open, by: "me@here"))
            return updateAdmission(.full)
        },
    ]
}
