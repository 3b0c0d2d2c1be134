import PushModel

@testable import RedisClient
@testable import StoreProtocol

extension ScriptCase {
    /// At least one case for each script.
    static let all =
        owners + intake + delivery + poison + results + suppression + farm + fsck + repairs + admissions
        + shared
        + edges + corners + letters + pauses + registry + devices + lookups
        + invalidTokens + campaigns

    private static let owners = [
        ScriptCase("acquires shards whose lease has expired", again: .same) { fixture in
            try fixture.redis.run("HSET", "{pushfarm:demo}:owners", "until:n1", "1")
            return fixture.acquire("n2")
        },
        ScriptCase("acquires the shards of the predecessor", again: .same) { fixture in
            fixture.acquire("n2", predecessor: "n1")
        },
        ScriptCase("renews its leases", again: .same) { fixture in
            try fixture.redis.run("HSET", "{pushfarm:demo}:owners", "until:n1", "5", "02", "1:n9:x")
            return RenewLeases(
                nonce: "n1", host: "host", lifetime: .seconds(600), leases: [.intake, .shard(2), .shard(9)])
        },
        ScriptCase("gives back its own shards", again: .other("[0]")) { fixture in
            try fixture.redis.run("HSET", "{pushfarm:demo}:owners", "02", "1:n9:x")
            return fixture.release([.shard(1), .shard(2), .shard(9)])
        },
        ScriptCase("gives back no shard that was acquired since", again: .same) { fixture in
            let late = fixture.release([.intake, .shard(0)])
            try fixture.redis.run(
                "HSET", "{pushfarm:demo}:owners", "00", "2:n1:host", "intake", "1:n1.1:host")
            return late
        },
        ScriptCase("gives back all shards when it leaves", again: .other("[0]")) { fixture in
            try fixture.redis.run("HSET", "{pushfarm:demo}:owners", "02", "1:n9:x")
            return ReleaseLeases(nonce: "n1", tokens: nil)
        },
    ]

    private static let intake = [
        ScriptCase("takes jobs up to the limit of jobs", again: .same) { fixture in
            for job in ["a", "b", "c"] { try fixture.perform(PushJob(job: Array(job.utf8))) }
            return Take(token: fixture.token, known: 0, maxJobs: 2, maxBytes: 1000, maxJobBytes: 100)
        },
        ScriptCase("returns the taken jobs that the intake does not know", again: .same) { fixture in
            try fixture.take("a", "b", "c")
            return Take(token: fixture.token, known: 1, maxJobs: 1, maxBytes: 1000, maxJobBytes: 100)
        },
        ScriptCase("takes jobs up to the limit of bytes", again: .same) { fixture in
            for job in ["aaa", "bbb", "c"] { try fixture.perform(PushJob(job: Array(job.utf8))) }
            return Take(token: fixture.token, known: 0, maxJobs: 9, maxBytes: 6, maxJobBytes: 100)
        },
        ScriptCase(
            "refuses a job that is too large", again: .other("[0, , 0, 0, 0, 0, a, b]")
        ) { fixture in
            for job in ["a", String(repeating: "x", count: 101), "b", "c"] {
                try fixture.perform(PushJob(job: Array(job.utf8)))
            }
            return Take(token: fixture.token, known: 0, maxJobs: 2, maxBytes: 1000, maxJobBytes: 100)
        },
        ScriptCase("refuses the first taken job", again: .other("0")) { fixture in
            try fixture.take("bad", "good")
            return Refuse(
                token: fixture.token, step: 1, job: "j1", field: "payload", position: 3, reason: "no object",
                original: Array("bad".utf8))
        },
        ScriptCase("drops a duplicate", again: .other("0")) { fixture in
            try fixture.take("again", "good")
            return Refuse(
                token: fixture.token, step: 1, job: "j1", field: "id", position: 0, reason: "known",
                original: Array("again".utf8), isDuplicate: true)
        },
        ScriptCase("counts a refused job of a flood", again: .other("0")) { fixture in
            try fixture.take("bad", "good")
            try fixture.flood(written: 100, pending: 7)
            return Refuse(
                token: fixture.token, step: 1, job: nil, field: "job", position: 3, reason: "no object",
                original: Array("bad".utf8))
        },
        ScriptCase("reports one refused job of a flood for all since the last event", again: .other("0")) {
            fixture in
            try fixture.take("bad", "good")
            try fixture.flood(written: 100, pending: 7, age: 1000)
            return Refuse(
                token: fixture.token, step: 1, job: nil, field: "job", position: 3, reason: "no object",
                original: Array("bad".utf8))
        },
        ScriptCase("splits a job that looks like a mistake", again: .other("[0]")) { fixture in
            try fixture.take("a", "next")
            return Split(
                token: fixture.token, step: 1, dropped: 1,
                jobs: [Split.Job(id: "a", opens: true, submitted: 1, accepted: 1, warning: "no aps")],
                batches: [.init(shard: 0, lane: .high, tokens: 1, body: StoreFixture.body([("a", 1)]))])
        },
        ScriptCase("refuses the rest of a job that is split in part", again: .other("0")) { fixture in
            try fixture.take("big", "next")
            try fixture.perform(fixture.firstPart())
            return Refuse(
                token: fixture.token, step: 2, job: nil, field: "tokens", position: 0, reason: "changed",
                original: Array("big".utf8))
        },
        ScriptCase("makes the taken jobs go one by one", again: .same) { fixture in
            try fixture.take("a", "b")
            return RecordIntakeCrash(token: fixture.token, process: "p1", isOnlyApp: true)
        },
        ScriptCase("counts a second crash against the first job", again: .same) { fixture in
            try fixture.take("a", "b")
            try fixture.perform(RecordIntakeCrash(token: fixture.token, process: "p1", isOnlyApp: true))
            return RecordIntakeCrash(token: fixture.token, process: "p2", isOnlyApp: true)
        },
        ScriptCase("refuses the first job as poison", again: .same) { fixture in
            try fixture.take("a", "b")
            for process in ["p1", "p2"] {
                try fixture.perform(
                    RecordIntakeCrash(token: fixture.token, process: process, isOnlyApp: true))
            }
            return RecordIntakeCrash(token: fixture.token, process: "p3", isOnlyApp: true)
        },
        ScriptCase("splits two jobs, one of them delayed", again: .other("[0]")) { fixture in
            try fixture.take("a", "b", "c")
            var event = FarmEvent(.tokenMalformed)
            event.add("job", "a")
            return Split(
                token: fixture.token, step: 1, dropped: 2,
                jobs: [
                    Split.Job(
                        id: "a", opens: true, submitted: 6, accepted: 3, malformed: 2, duplicates: 1,
                        lane: .bulk, events: [event]),
                    Split.Job(id: "b", opens: true, submitted: 2, accepted: 2),
                    Split.Job(id: "c", opens: true, submitted: 1, accepted: 0, malformed: 1),
                ],
                batches: [
                    .init(shard: 0, lane: .bulk, tokens: 3, body: StoreFixture.body([("a", 3)])),
                    .init(shard: 1, lane: .high, tokens: 1, body: StoreFixture.body([("b", 1)])),
                    .init(
                        shard: 2, lane: .high, due: 4_000_000_000_000, tokens: 1,
                        body: StoreFixture.body([("b", 1)])),
                ])
        },
        ScriptCase("splits the first part of a job", again: .other("[0]")) { fixture in
            try fixture.take("big", "next")
            return fixture.firstPart()
        },
        ScriptCase(
            "does not mistake another step of the same number for its own", again: .refused("error STEP 1")
        ) {
            fixture in
            try fixture.take("big", "next")
            try fixture.perform(fixture.firstPart())
            return fixture.splitRequest(step: 1, [("next", 2)])
        },
        ScriptCase("does not mistake a split of the same number for its own", again: .refused("error STEP 1"))
        {
            fixture in
            try fixture.take("big", "next")
            try fixture.perform(fixture.firstPart())
            return Refuse(
                token: fixture.token, step: 1, job: "big", field: "tokens", position: 0, reason: "x",
                original: [])
        },
        ScriptCase("splits the last part of a job that is split alone", again: .other("[0]")) { fixture in
            try fixture.take("big", "next")
            try fixture.perform(fixture.firstPart())
            try fixture.perform(RecordIntakeCrash(token: fixture.token, process: "p1", isOnlyApp: true))
            return Split(
                token: fixture.token, step: 2, dropped: 1,
                jobs: [Split.Job(id: "big", opens: false, submitted: 5, accepted: 5)],
                batches: [.init(shard: 1, lane: .high, tokens: 3, body: StoreFixture.body([("big", 3)]))])
        },
    ]

    private static let delivery = [
        ScriptCase("assigns batches of both lanes up to the credit", again: .any) { fixture in
            try fixture.split(step: 1, [("a", 2), ("b", 3)], shard: 0)
            try fixture.split(step: 2, [("c", 4)], shard: 1, lane: .bulk)
            try fixture.split(step: 3, [("d", 4)], shard: 2, lane: .bulk)
            return Checkout(
                worker: "w1", credit: 7, maxBatches: 2, known: [],
                shards: (0..<StoreFixture.shards).map { ($0, fixture.token) })
        },
        ScriptCase("assigns the worker's known batches again, and none of another worker", again: .same) {
            fixture in
            for step in 1...3 { try fixture.split(step: step, [("j\(step)", 2)]) }
            let batches = try fixture.checkout("w1", most: 2).batches
            _ = try fixture.checkout("w2", most: 1)
            return Checkout(
                worker: "w1", credit: 100, maxBatches: 8, known: [batches[0].id],
                shards: (0..<StoreFixture.shards).map { ($0, fixture.token) })
        },
        ScriptCase("takes bulk batches from the shards in turn", again: .any) { fixture in
            for (step, shard) in [0, 0, 1].enumerated() {
                try fixture.split(step: step + 1, [("j\(step)", 2)], shard: shard, lane: .bulk)
            }
            try fixture.split(step: 4, [("high", 2)], shard: 2)
            var checkout = Checkout(
                worker: "w1", credit: 5, maxBatches: 3, known: [],
                shards: (0..<StoreFixture.shards).map { ($0, fixture.token) })
            checkout.lanes = .bulkOnly
            return checkout
        },
        ScriptCase("leaves bulk alone when only high is asked for", again: .any) { fixture in
            try fixture.split(step: 1, [("bulk", 2)], shard: 0, lane: .bulk)
            try fixture.split(step: 2, [("a", 2)], shard: 1)
            try fixture.split(step: 3, [("b", 2)], shard: 1)
            var checkout = Checkout(
                worker: "w1", credit: 9, maxBatches: 1, known: [],
                shards: (0..<StoreFixture.shards).map { ($0, fixture.token) })
            checkout.lanes = .highOnly
            return checkout
        },
        ScriptCase(
            "reports facts and raises the credit", again: .other("[..xx., 5, 0]")
        ) { fixture in
            let batch = try fixture.held([("a", 2), ("b", 3)], credit: 4)
            return fixture.reportRequest(batch.id, 2..<4, wanted: 5, entry: StoreFixture.delivered("b", 2))
        },
        ScriptCase(
            "reports decisions with their lane", again: .other("[x.., 3, 0]")
        ) { fixture in
            let batch = try fixture.held([("a", 3)], lane: .bulk)
            return fixture.reportRequest(batch.id, 0..<1, facts: false, entry: StoreFixture.delivered("a", 1))
        },
        ScriptCase("reports the last positions", again: .other("[0, 0, 1, 0, 1]")) { fixture in
            let batch = try fixture.held([("a", 3)])
            return fixture.reportRequest(batch.id, 0..<3, entry: StoreFixture.delivered("a", 3))
        },
        ScriptCase(
            "takes facts about a batch that is ready again", again: .other("[.x., 0, 2]")
        ) { fixture in
            let batch = try fixture.held([("a", 3)])
            try fixture.perform(PutBack(token: fixture.token, worker: "w1", batches: [(batch.id, 1)]))
            return fixture.reportRequest(batch.id, 1..<2, wanted: 3, entry: StoreFixture.delivered("a", 1))
        },
        ScriptCase(
            "takes the last facts about a batch that is ready again", again: .other("[0, 0, 1, 0, 1]")
        ) { fixture in
            let batch = try fixture.held([("a", 3)], lane: .bulk)
            try fixture.perform(PutBack(token: fixture.token, worker: "w1", batches: [(batch.id, 1)]))
            return fixture.reportRequest(batch.id, 0..<3, entry: StoreFixture.delivered("a", 3))
        },
        ScriptCase(
            "takes facts about a delayed batch", again: .other("[.x., 0, 2]")
        ) { fixture in
            let batch = try fixture.delayed([("a", 3)])
            return fixture.reportRequest(batch, 1..<2, entry: StoreFixture.delivered("a", 1))
        },
        ScriptCase(
            "takes the last facts about a delayed batch", again: .other("[0, 0, 1, 0, 1]")
        ) { fixture in
            let batch = try fixture.delayed([("a", 3)])
            return fixture.reportRequest(batch, 0..<3, entry: StoreFixture.delivered("a", 3))
        },
        ScriptCase(
            "takes the last facts about a paused batch", again: .other("[0, 0, 1, 0, 1]")
        ) { fixture in
            let batch = try fixture.held([("a", 3)])
            try fixture.perform(fixture.quarantine(batch))
            return fixture.reportRequest(batch.id, 0..<3, entry: StoreFixture.delivered("a", 3))
        },
        ScriptCase("returns batches to the head of the list in order", again: .other("0")) { fixture in
            for step in 1...3 { try fixture.split(step: step, [("j\(step)", 2)]) }
            let batches = try fixture.checkout(most: 2).batches
            _ = try fixture.report(batches[0], 0..<1, entry: StoreFixture.delivered("j1", 1))
            return PutBack(
                token: fixture.token, worker: "w1", batches: batches.map { ($0.id, $0.delivery) })
        },
        ScriptCase("returns a batch behind an older one", again: .other("0")) { fixture in
            for step in 1...3 { try fixture.split(step: step, [("j\(step)", 2)]) }
            let batches = try fixture.checkout(most: 2).batches.map { ($0.id, $0.delivery) }
            try fixture.perform(PutBack(token: fixture.token, worker: "w1", batches: [batches[0]]))
            return PutBack(token: fixture.token, worker: "w1", batches: [batches[1]])
        },
        ScriptCase("quarantines a batch", again: .other("0")) { fixture in
            fixture.quarantine(try fixture.held([("a", 2), ("b", 1)]))
        },
        ScriptCase(
            "reclaims from all workers except the living ones",
            again: .other("[0, 0, 0, 0, 0, [], [], []]")
        ) { fixture in
            for step in 1...3 { try fixture.split(step: step, [("j\(step)", 2)]) }
            for worker in ["w1", "w2", "w3"] { _ = try fixture.checkout(worker, most: 1) }
            var reclaim = fixture.reclaim([])
            reclaim.workers = .allBut(["w1", "w3"])
            return reclaim
        },
        ScriptCase("reclaims only from exited workers", again: .other("[0, 0, 0, 0, 0, [], [], []]")) {
            fixture in
            for step in 1...2 { try fixture.split(step: step, [("j\(step)", 2)]) }
            for worker in ["w1", "w2"] { _ = try fixture.checkout(worker, most: 1) }
            return fixture.reclaim(["w2"])
        },
        ScriptCase("reclaims the batches of a lost worker", again: .other("[0, 0, 0, 0, 0, [], [], []]")) {
            fixture in
            for step in 1...3 { try fixture.split(step: step, [("j\(step)", 3)]) }
            let batches = try fixture.checkout(credit: 8).batches
            _ = try fixture.report(batches[0], 1..<2, entry: StoreFixture.delivered("j1", 1))
            return fixture.reclaim(["w1"])
        },
        ScriptCase(
            "closes pushes that are sent at most once and may have been sent",
            again: .other("[0, 0, 0, 0, 0, [], [], []]")
        ) { fixture in
            try fixture.split([("a", 5)], delivery: .atMostOnce)
            let batch = try fixture.checkout(credit: 4).batches[0]
            _ = try fixture.report(batch, 1..<2, entry: StoreFixture.delivered("a", 1))
            return fixture.reclaim(["w1"])
        },
    ]

    private static let suppression = [
        ScriptCase("suppresses tokens and reports one", again: .other("0")) { fixture in
            var event = FarmEvent(.tokenInvalid)
            event.add("token", hex: [9, 9])
            return Suppress(
                [
                    .init(shard: 2, record: StoreFixture.dead([1, 2]).record!),
                    .init(shard: 0, record: StoreFixture.dead([9, 9], .feedback).record!, event: event),
                ], scopes: [StoreFixture.scope], writer: "r1", step: 1)
        },
        ScriptCase("reports a token that is already on its list", again: .other("0")) { _ in
            Suppress(
                [.init(shard: 2, record: nil, event: FarmEvent(.tokenInvalid))], scopes: [StoreFixture.scope],
                writer: "r1", step: 1)
        },
        ScriptCase("accepts the steps of a writer in order", again: .other("0")) { fixture in
            let entries = [Suppress.Entry(shard: 2, record: StoreFixture.dead([1, 2]).record!)]
            try fixture.perform(Suppress(entries, scopes: [StoreFixture.scope], writer: "r1", step: 1))
            try fixture.perform(Suppress(entries, scopes: [StoreFixture.scope], writer: "r2", step: 7))
            return Suppress(entries, scopes: [StoreFixture.scope], writer: "r1", step: 2)
        },
        ScriptCase("requests a reading", again: .same) { _ in AskForFeedback() },
        ScriptCase("begins the first reading", again: .same) { fixture in
            BeginFeedback(token: fixture.token, reader: "r1", limit: .seconds(60))
        },
        ScriptCase("begins no reading while another reads", again: .any) { fixture in
            // The limit is so long that the remaining time in the reply has 13 digits and is masked.
            let long = Duration.seconds(4_000_000_000_000)
            try fixture.perform(BeginFeedback(token: fixture.token, reader: "r1", limit: long))
            return BeginFeedback(token: fixture.token, reader: "r2", limit: long)
        },
        ScriptCase("begins no reading before it is due", again: .any) { fixture in
            try read(fixture, "")
            try fixture.redis.run("HSET", "{pushfarm:demo}:feedback", "due", "9000000000000000")
            return BeginFeedback(token: fixture.token, reader: "r2", limit: .seconds(60))
        },
        ScriptCase("begins a requested reading", again: .same) { fixture in
            try read(fixture, "no route")
            try fixture.perform(AskForFeedback())
            return BeginFeedback(token: fixture.token, reader: "r2", limit: .seconds(60))
        },
        ScriptCase("begins no reading without the intake", again: .refused("error FENCED intake")) { _ in
            BeginFeedback(token: FenceToken(Array("9:n9:x".utf8)), reader: "r1", limit: .seconds(60))
        },
        ScriptCase("ends a reading", again: .other("0")) { fixture in
            try read(fixture, "no route")
            try fixture.perform(AskForFeedback())
            try fixture.perform(BeginFeedback(token: fixture.token, reader: "r2", limit: .seconds(60)))
            return EndFeedback(reader: "r2", tuples: 5, next: .seconds(3600), error: "")
        },
        ScriptCase("ends a reading that failed", again: .other("0")) { fixture in
            try fixture.perform(BeginFeedback(token: fixture.token, reader: "r1", limit: .seconds(60)))
            return EndFeedback(reader: "r1", tuples: 2, next: .seconds(5), error: "no route")
        },
        ScriptCase("ends no reading of another host", again: .same) { fixture in
            try fixture.perform(BeginFeedback(token: fixture.token, reader: "r1", limit: .seconds(60)))
            return EndFeedback(reader: "r2", tuples: 2, next: .seconds(5), error: "")
        },
    ]

    /// Reads the feedback service once. The next reading is due in an hour.
    private static func read(_ fixture: StoreFixture, _ error: String) throws {
        try fixture.perform(BeginFeedback(token: fixture.token, reader: "r1", limit: .seconds(60)))
        try fixture.perform(EndFeedback(reader: "r1", tuples: 3, next: .seconds(3600), error: error))
    }

    private static let results = [
        ScriptCase(
            "settles outcomes, a retry and an unregistered token, and finishes a job", again: .other("[0, 0]")
        ) {
            fixture in
            let batch = try fixture.held([("a", 5), ("b", 2)])
            _ = try fixture.report(batch, 0..<5, entry: StoreFixture.delivered("a", 5))
            _ = try fixture.report(batch, 5..<7, entry: StoreFixture.delivered("b", 2))
            let records = try fixture.results()
            var first = Settlement(entry: records[0].id)
            var job = Settlement.Job(id: "a")
            (job.delivered, job.failed, job.expired, job.cancelled, job.delayed) = (1, 1, 1, 1, 1)
            (job.maybeDuplicated, job.reasons) = (1, ["BadDeviceToken": 1])
            first.jobs = [job]
            first.retries = [
                .init(
                    shard: 1, lane: .bulk, delay: .zero, tokens: 1,
                    body: StoreFixture.body([("a", 1)], attempt: 1))
            ]
            (first.responses, first.scopes) = (3, [StoreFixture.scope])
            first.invalidTokens = [StoreFixture.dead(StoreFixture.tokens(1)[0])]
            first.events = [
                FarmEvent(.pushFailed, job: "a", token: [0xab, 1], reason: "BadDeviceToken", status: 400)
            ]
            return Settle([first, StoreFixture.settlement(records[1], "b", delivered: 2)])
        },
        ScriptCase("settles an entry whose job record has expired", again: .other("[0, 0]")) { fixture in
            let batch = try fixture.held([("a", 1)])
            _ = try fixture.report(batch, 0..<1, entry: StoreFixture.delivered("a", 1))
            try fixture.redis.run("DEL", "{pushfarm:demo}:job:a")
            return Settle([StoreFixture.settlement(try fixture.results()[0], "a", delivered: 1)])
        },
        ScriptCase("moves due batches", again: .other("[TIME]")) { fixture in
            for (step, due) in [
                (1, Int64(4_000_000_000_000)), (2, 3_000_000_000_000), (3, 4_000_000_000_000),
            ] {
                try fixture.split(
                    step: step, [("j\(step)", 2)], shard: step, lane: step == 2 ? .bulk : .high, due: due)
            }
            let delayed = "{pushfarm:demo}:delayed"
            for (place, due) in ["1", "2", "90000000000000"].enumerated() {
                let id = try fixture.redis.run("ZRANGE", delayed, "\(place)", "\(place)").array?.first?.text
                try fixture.redis.run("ZADD", delayed, due, id ?? "")
            }
            return PromoteDue()
        },
        ScriptCase("creates the consumer group of the results stream", again: .other("0")) { fixture in
            try fixture.redis.run("XADD", "{pushfarm:demo}:results", "*", "r", "x")
            try fixture.redis.run("XGROUP", "DESTROY", "{pushfarm:demo}:results", "settlement")
            return CreateResultsGroup()
        },
    ]

    private static func alert(_ verb: String, _ level: Int) -> [String] {
        [
            "2", "{pushfarm}:active_alerts", "{pushfarm}:alerts", verb, "redis_full farm  ", "\(level)",
            "4000",
            "Redis is full", "here",
        ]
    }

    private static let farm = [
        ScriptCase("pauses again for another reason", again: .other("0")) { fixture in
            try fixture.perform(PauseApp(reason: "why", fingerprint: "abc"))
            return PauseApp(reason: "other", fingerprint: "abc")
        },
        ScriptCase("pauses", again: .other("0")) { _ in PauseApp(reason: "why", fingerprint: "abc") },
        ScriptCase("resumes", again: .other("0")) { fixture in
            try fixture.perform(PauseApp(reason: "why", fingerprint: "abc"))
            return ResumeApp()
        },
        ScriptCase("closes when the memory is full", again: .other("[memory, 0, 0, 0, 0]")) { _ in
            UpdateAdmission.full
        },
        ScriptCase("closes at too many open pushes", again: .other("[backlog, 0, 10, 0, 1]")) { fixture in
            try fixture.split([("a", 10)])
            var updateAdmission = UpdateAdmission.full
            updateAdmission.memory = .keep
            return updateAdmission
        },
        ScriptCase("stays closed at nine tenths of the inbox", again: .other("[inbox, 0, 0, 9, 0]")) {
            fixture in
            var updateAdmission = UpdateAdmission.full
            updateAdmission.memory = .keep
            updateAdmission.limits = AppLimits(backlog: 100, inbox: 10, inboxBytes: 1 << 20, jobBytes: 40)
            for job in 1...10 { try fixture.perform(PushJob(job: Array("\(job)".utf8))) }
            try fixture.perform(updateAdmission)
            try fixture.redis.run("LPOP", "pushfarm:demo")
            updateAdmission.retryAfter = .milliseconds(600)
            return updateAdmission
        },
        ScriptCase("opens again below nine tenths", again: .other("[, 0, 0, 0, 0]")) { fixture in
            try fixture.perform(UpdateAdmission.full)
            var updateAdmission = UpdateAdmission.full
            updateAdmission.memory = .relieved
            return updateAdmission
        },
        ScriptCase("limits the intake to a trickle", again: .same) { _ in
            UpdateAdmission(
                memory: .keep, limitsIntake: true, retryAfter: .milliseconds(500),
                limits: AppLimits(backlog: 10, inbox: 20, inboxBytes: 30, jobBytes: 40), jobRecordSeconds: 600
            )
        },
        ScriptCase("counts the batches of each list", again: .same) { fixture in
            try fixture.fillAllLists()
            try fixture.take("a", "b")
            try fixture.perform(PushJob(job: Array("c".utf8)))
            return ReadDepths(shards: 3)
        },
        ScriptCase("returns the ages of the oldest pushes", again: .same) { fixture in
            // The batch ids in these lists contain a time in the future, which counts as now. So the ages are the same in
            // each run.
            for (step, shard) in [0, 2].enumerated() {
                try fixture.split(step: step + 1, [("j\(shard)", 1)], shard: shard, lane: .high)
            }
            for (list, id) in [
                ("ready:00", "00.h.ffffffff00000.1"), ("in_flight:02", "02.b.r9999999999999-0.1"),
            ] {
                try fixture.redis.run("DEL", "{pushfarm:demo}:\(list)")
                try fixture.redis.run("RPUSH", "{pushfarm:demo}:\(list)", id)
            }
            try fixture.redis.run("DEL", "{pushfarm:demo}:ready:02")
            return ReadAges(shards: 3)
        },
        ScriptCase("finds keys of the wrong type and unreadable entries", again: .same) { fixture in
            try fixture.redis.run("DEL", "{pushfarm:demo}:owners")
            try fixture.redis.run("SET", "{pushfarm:demo}:owners", "x")
            try fixture.redis.run("HSET", "{pushfarm:demo}:unsettled", "5-0", "7 ends too early")
            try fixture.redis.run("HSET", "{pushfarm:demo}:unreadable", "6-0", "?")
            return FindDamage(shards: 3)
        },
        ScriptCase("finds no fault", again: .same) { fixture in
            _ = try fixture.held([("a", 3)])
            return CheckAccounting(shards: StoreFixture.shards)
        },
        ScriptCase("finds the job records that are not finished", again: .same) { fixture in
            try fixture.split(step: 1, [("a", 3)])
            try fixture.redis.run(
                "HSET", "{pushfarm:demo}:job:b", "state", "finished", "accepted", "2", "failed", "2")
            try fixture.redis.run("ZADD", "{pushfarm:demo}:jobs", "5", "b")
            return ScanJobRecords(shards: StoreFixture.shards)
        },
        ScriptCase(.swapProviderToken, "replaces a provider token", again: .same) { fixture in
            try fixture.redis.run("SET", "{pushfarm}:provider:k", "old")
            return ["1", "{pushfarm}:provider:k", "old", "new", "500000"]
        },
        ScriptCase(.swapProviderToken, "leaves another host's value", again: .same) { fixture in
            try fixture.redis.run("SET", "{pushfarm}:provider:k", "newest")
            return ["1", "{pushfarm}:provider:k", "old", "new", "500000"]
        },
        ScriptCase(.swapProviderToken, "stores a first provider token", again: .same) { _ in
            ["1", "{pushfarm}:provider:k", "", "new", "500000"]
        },
        ScriptCase(.heartbeat, "writes its heartbeat and drops one that expired long ago", again: .same) {
            fixture in
            try fixture.redis.run(
                "HSET", "{pushfarm}:hosts", "old", "1000 n 2 x {}", "b",
                "\(try end(fixture, in: 30)) n2 4 x,y {}")
            return ["1", "{pushfarm}:hosts", "a", "5000", "n1", "", "3", "x", "{\"y\": 1}"]
        },
        ScriptCase(.heartbeat, "removes its heartbeat", again: .same) { fixture in
            try fixture.redis.run("HSET", "{pushfarm}:hosts", "a", "\(try end(fixture, in: 30)) n1 4 x,y {}")
            return ["1", "{pushfarm}:hosts", "a", "0", "n1", "", "0", "", ""]
        },
        ScriptCase(.alert, "fires an alert", again: .other("0")) { _ in alert("fired", 1) },
        ScriptCase(.alert, "raises the level of an alert", again: .other("0")) { fixture in
            try fixture.redis.run("HSET", "{pushfarm}:active_alerts", "redis_full farm  ", "1 4000 full")
            return alert("fired", 2)
        },
        ScriptCase(.alert, "ignores a lower level of an alert", again: .same) { fixture in
            try fixture.redis.run("HSET", "{pushfarm}:active_alerts", "redis_full farm  ", "3 4000 full")
            return alert("fired", 2)
        },
        ScriptCase(.alert, "clears an alert", again: .other("0")) { fixture in
            try fixture.redis.run("HSET", "{pushfarm}:active_alerts", "redis_full farm  ", "1 4000 full")
            return alert("cleared", 1)
        },
        ScriptCase(.alert, "clears no alert that has not fired", again: .same) { _ in alert("cleared", 1) },
        ScriptCase(.initFarm, "creates the farm", again: .same) { _ in
            ["2", "{pushfarm}:farm", "{pushfarm}:apps", "64", "1", "a", "b"]
        },
        ScriptCase(.initFarm, "does not change a farm that exists", again: .same) { fixture in
            try fixture.redis.run("HSET", "{pushfarm}:farm", "shards", "16", "format", "1")
            return ["2", "{pushfarm}:farm", "{pushfarm}:apps", "64", "1", "a"]
        },
        ScriptCase(.initFarm, "registers an app", again: .same) { _ in
            ["2", "{pushfarm}:farm", "{pushfarm}:apps", "0", "1", "a"]
        },
    ]
}

extension UpdateAdmission {
    fileprivate static let full = UpdateAdmission(
        memory: .full, limitsIntake: false, retryAfter: .milliseconds(500),
        limits: AppLimits(backlog: 10, inbox: 20, inboxBytes: 30, jobBytes: 40), jobRecordSeconds: 600)
}
