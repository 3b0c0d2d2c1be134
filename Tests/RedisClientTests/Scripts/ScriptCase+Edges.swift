import PushModel

@testable import RedisClient
@testable import StoreProtocol

/// Edge cases. Each case notices a changed line of a script that no other test noticed; `make mutants` found these changes.
extension ScriptCase {
    static let edges = splits + takes + deliveries + leases + settlements + returns + promotions

    static let app = "{pushfarm:demo}:"

    /// Returns a call that opens a job of one push in shard 1.
    static func split(
        _ fixture: StoreFixture, step: Int = 1, _ id: String = "new", retention: Retention = Retention(),
        movedJob: String = ""
    ) -> Split {
        Split(
            token: fixture.token, step: step, dropped: 1,
            jobs: [Split.Job(id: id, opens: true, submitted: 1, accepted: 1)],
            batches: [.init(shard: 1, lane: .high, tokens: 1, body: StoreFixture.body([(id, 1)]))],
            retention: retention, movedJob: Array(movedJob.utf8))
    }

    /// Makes the record of a job that finished at `time`. `place` is its score in the sorted set of jobs.
    static func ended(_ fixture: StoreFixture, _ job: String, at time: Int64, place: Int64? = nil) throws {
        try fixture.redis.run(
            "HSET", app + "job:\(job)", "state", "finished", "created_at", "\(time)", "finished_at",
            "\(time)",
            "accepted", "1", "delivered", "1")
        try fixture.redis.run("ZADD", app + "jobs", "\(place ?? time)", job)
    }

    /// A time that is older than every retention.
    static let longAgo: Int64 = 1_000_000
    /// A time that lies far in the future.
    static let farAhead: Int64 = 4_000_000_000_000

    static func kept(_ jobRecords: Int, seconds: Int = 72 * 3600) -> Retention {
        var retention = Retention()
        (retention.jobRecords, retention.jobRecordSeconds) = (jobRecords, seconds)
        return retention
    }

    private static let splits = [
        ScriptCase("replaces an old job record with a new one", again: .any) { fixture in
            try ended(fixture, "new", at: longAgo)
            try fixture.redis.run("HSET", app + "job:new", "failed", "3", "reason:x", "3")
            try fixture.take("a")
            return split(fixture)
        },
        ScriptCase("writes events with several fields for several jobs", again: .any) { fixture in
            try fixture.take("a", "b", "c")
            func event(_ job: String, _ words: Int) -> FarmEvent {
                var event = FarmEvent(.tokenMalformed)
                event.add("job", job)
                for word in 0..<words { event.add("w\(word)", "\(word)") }
                return event
            }
            return Split(
                token: fixture.token, step: 1, dropped: 3,
                jobs: [
                    Split.Job(
                        id: "a", opens: true, submitted: 3, accepted: 1, malformed: 2,
                        events: [event("a", 0), event("a", 2)]),
                    Split.Job(
                        id: "b", opens: true, submitted: 2, accepted: 0, malformed: 2,
                        events: [event("b", 3), event("b", 1)]),
                    Split.Job(id: "c", opens: true, submitted: 2, accepted: 2, lane: .bulk),
                ],
                batches: [
                    .init(shard: 3, lane: .high, tokens: 1, body: StoreFixture.body([("a", 1)])),
                    .init(shard: 3, lane: .bulk, tokens: 2, body: StoreFixture.body([("c", 2)])),
                ])
        },
        ScriptCase("limits the job records and their list", again: .any) { fixture in
            for (place, job) in ["old1", "old2", "old3"].enumerated() {
                try ended(fixture, job, at: farAhead + Int64(place))
            }
            try fixture.take("a")
            return split(fixture, retention: kept(2))
        },
        ScriptCase("keeps job records up to the limit", again: .any) { fixture in
            for (place, job) in ["old1", "old2"].enumerated() {
                try ended(fixture, job, at: farAhead + Int64(place))
            }
            try fixture.take("a")
            return split(fixture, retention: kept(3))
        },
        ScriptCase("moves an open job to a later place in the list", again: .any) { fixture in
            try fixture.redis.run(
                "HSET", app + "job:open", "state", "open", "created_at", "5", "accepted", "1")
            try fixture.redis.run("ZADD", app + "jobs", "5", "open")
            try ended(fixture, "old", at: 6)
            try fixture.take("a")
            return split(fixture, retention: kept(2))
        },
        ScriptCase("drops expired job records from the list, and checks late ones again", again: .any) {
            fixture in
            try fixture.redis.run("ZADD", app + "jobs", "\(longAgo)", "gone", "\(longAgo + 1)", "gone2")
            try ended(fixture, "late", at: farAhead, place: longAgo + 2)
            try fixture.redis.run("ZADD", app + "jobs", "\(longAgo + 3)", "gone3")
            try fixture.take("a")
            return split(fixture)
        },
        ScriptCase("keeps missing job records in the list while they are young", again: .any) { fixture in
            try fixture.redis.run("ZADD", app + "jobs", "\(farAhead)", "gone")
            try fixture.take("a")
            return split(fixture)
        },
        ScriptCase("drops several jobs, some of which are split one by one", again: .any) { fixture in
            try fixture.take("a", "b", "c", "d")
            try fixture.perform(RecordIntakeCrash(token: fixture.token, process: "p1", isOnlyApp: true))
            var request = split(fixture)
            request.dropped = 3
            return request
        },
        ScriptCase("splits a job that was taken alone", again: .any) { fixture in
            try fixture.take("a")
            return split(fixture, movedJob: "a")
        },
        ScriptCase("returns that jobs are waiting", again: .any) { fixture in
            try fixture.take("a")
            try fill(fixture, "b")
            return split(fixture)
        },
        ScriptCase("returns that the app is full", again: .any) { fixture in
            try fixture.take("a")
            try fixture.redis.run("HSET", app + "admission", "max_backlog", "1")
            return split(fixture)
        },
    ]

    private static func take(
        _ fixture: StoreFixture, known: Int = 0, jobs: Int = 9, bytes: Int = 1000, limit: Int = 100
    ) -> Take {
        Take(token: fixture.token, known: known, maxJobs: jobs, maxBytes: bytes, maxJobBytes: limit)
    }

    private static func fill(_ fixture: StoreFixture, _ jobs: String...) throws {
        for job in jobs { try fixture.perform(PushJob(job: Array(job.utf8))) }
    }

    /// Adds jobs to `taken`, as after a blocking move from the inbox whose reply was lost.
    private static func addTakenJobs(_ fixture: StoreFixture, _ jobs: String...) throws {
        for job in jobs { try fixture.redis.run("RPUSH", app + "taken", job) }
    }

    private static let tooLong = String(repeating: "x", count: 101)

    private static let takes = [
        ScriptCase("takes many small jobs in order up to the limit of bytes", again: .same) {
            fixture in
            for number in 10..<45 { try fill(fixture, "job\(number)") }
            return take(fixture, jobs: 99, bytes: 131)
        },
        ScriptCase("takes jobs up to the limit, including those taken before", again: .same) { fixture in
            for number in 10..<22 { try fill(fixture, "job\(number)") }
            try fixture.perform(take(fixture, jobs: 12))
            for number in 22..<45 { try fill(fixture, "job\(number)") }
            return take(fixture, known: 2, jobs: 30)
        },
        ScriptCase(
            "refuses the first job of the inbox when it is too large", again: .other("[0, , 0, 0, 0, 0, a]")
        ) { fixture in
            try fill(fixture, tooLong, "a")
            return take(fixture)
        },
        ScriptCase(
            "refuses the first taken job when it is too large",
            again: .other("[0, , 0, 0, 0, 0, a, b]")
        ) { fixture in
            try addTakenJobs(fixture, tooLong, tooLong, "a")
            try fill(fixture, "b")
            return take(fixture)
        },
        ScriptCase("returns no jobs from a taken job that is too large", again: .same) { fixture in
            try addTakenJobs(fixture, "a", "b", tooLong, "c")
            try fill(fixture, "d")
            return take(fixture)
        },
        ScriptCase("leaves a job behind known ones that is too large", again: .same) {
            fixture in
            try addTakenJobs(fixture, "a", tooLong)
            try fill(fixture, "b")
            return take(fixture, known: 1)
        },
        ScriptCase("continues a partly split job of any size", again: .same) { fixture in
            try fixture.take(tooLong, tooLong)
            try fixture.perform(fixture.firstPart())
            return take(fixture)
        },
        ScriptCase("counts a refused job among those that are split one by one", again: .any) { fixture in
            try fixture.take(tooLong, "a", "b")
            try fixture.perform(RecordIntakeCrash(token: fixture.token, process: "p1", isOnlyApp: true))
            return take(fixture)
        },
        ScriptCase("counts the last refused job among those that are split one by one", again: .any) {
            fixture in
            try fixture.take(tooLong)
            try fixture.perform(RecordIntakeCrash(token: fixture.token, process: "p1", isOnlyApp: true))
            try fill(fixture, "a", "b")
            return take(fixture)
        },
        ScriptCase("takes nothing while there are too many open pushes", again: .same) { fixture in
            try fixture.redis.run("HSET", app + "admission", "max_backlog", "10")
            try fixture.redis.run("HSET", app + "load", "open", "10")
            try fixture.take("a")
            try fill(fixture, "b")
            return take(fixture)
        },
        ScriptCase("takes while there is room for one open push", again: .any) { fixture in
            try fixture.redis.run("HSET", app + "admission", "max_backlog", "10")
            try fixture.redis.run("HSET", app + "load", "open", "9")
            try fill(fixture, "b")
            return take(fixture)
        },
        ScriptCase("takes into an app that never had a push", again: .any) { fixture in
            try fixture.redis.run("HSET", app + "admission", "max_backlog", "1")
            try fill(fixture, "b")
            return take(fixture)
        },
        ScriptCase("reports no waiting job for a full app", again: .same) { fixture in
            try fixture.redis.run("HSET", app + "admission", "max_backlog", "0")
            return take(fixture)
        },
        ScriptCase("takes nothing while a trickle continues", again: .same) { fixture in
            try trickle(fixture, batches: 130)
            return take(fixture)
        },
        ScriptCase("takes jobs after the end of a trickle", again: .any) { fixture in
            try trickle(fixture, batches: 129)
            return take(fixture, jobs: 1)
        },
        ScriptCase("takes suspect jobs one by one", again: .same) { fixture in
            try fixture.take("a", "b")
            try fixture.perform(RecordIntakeCrash(token: fixture.token, process: "p1", isOnlyApp: true))
            try fill(fixture, "c")
            return take(fixture)
        },
        ScriptCase("takes the last suspect job alone", again: .any) { fixture in
            try fixture.take("a")
            try fixture.perform(RecordIntakeCrash(token: fixture.token, process: "p1", isOnlyApp: true))
            try fill(fixture, "b")
            return take(fixture)
        },
        ScriptCase("returns taken jobs up to the limit of bytes", again: .same) { fixture in
            try fixture.take("aaa", "bbb", "c")
            return take(fixture, bytes: 6)
        },
        ScriptCase("returns more taken jobs for one more byte", again: .same) { fixture in
            try fixture.take("aaa", "bbb", "c")
            return take(fixture, bytes: 7)
        },
        ScriptCase("takes nothing when the app is full during a trickle", again: .any) { fixture in
            try fixture.redis.run("HSET", app + "admission", "max_backlog", "10", "trickle", "1")
            try fixture.redis.run("HSET", app + "load", "open", "10")
            try fill(fixture, "b")
            return take(fixture)
        },
        ScriptCase("takes no second suspect job", again: .same) { fixture in
            try fixture.take("a", "b")
            try fixture.perform(RecordIntakeCrash(token: fixture.token, process: "p1", isOnlyApp: true))
            return take(fixture, known: 1)
        },
        ScriptCase("takes one job that is larger than a reply", again: .same) { fixture in
            try fill(fixture, "aaaaaaaaaa", "b")
            return take(fixture, bytes: 5)
        },
        ScriptCase("returns one taken job that is larger than a reply", again: .same) { fixture in
            try fixture.take("aaaaaaaaaa", "b")
            return take(fixture, bytes: 5)
        },
        ScriptCase("returns taken jobs, and then takes more", again: .any) { fixture in
            try fixture.take("a", "b")
            try fill(fixture, "c", "d", "e")
            return take(fixture, known: 1, jobs: 3)
        },
        ScriptCase("takes a job of the greatest allowed size", again: .any) { fixture in
            try fill(fixture, "aaaa", "bbbbb", "c")
            return take(fixture, limit: 4)
        },
        ScriptCase("returns the position in a partly split job", again: .same) { fixture in
            try fixture.take("big", "next")
            try fixture.perform(fixture.firstPart())
            return take(fixture)
        },
        ScriptCase("refuses one of the jobs that are split one by one", again: .any) { fixture in
            try fixture.take("a", "b", "c")
            try fixture.perform(RecordIntakeCrash(token: fixture.token, process: "p1", isOnlyApp: true))
            return Refuse(
                token: fixture.token, step: 1, job: "j", field: "f", position: 1, reason: "r", original: [65])
        },
        ScriptCase("refuses the last of the jobs that are split one by one", again: .any) { fixture in
            try fixture.take("a")
            try fixture.perform(RecordIntakeCrash(token: fixture.token, process: "p1", isOnlyApp: true))
            try fixture.perform(RecordIntakeCrash(token: fixture.token, process: "p2", isOnlyApp: true))
            return Refuse(
                token: fixture.token, step: 1, job: "j", field: "f", position: 1, reason: "r", original: [65])
        },
        ScriptCase("counts no crash without jobs", again: .same) { fixture in
            RecordIntakeCrash(token: fixture.token, process: "p1", isOnlyApp: true)
        },
        ScriptCase("counts no crash against a job when other jobs were taken", again: .same) { fixture in
            try fixture.take("a", "b")
            try fixture.perform(RecordIntakeCrash(token: fixture.token, process: "p1", isOnlyApp: true))
            return RecordIntakeCrash(token: fixture.token, process: "p2", isOnlyApp: false)
        },
        ScriptCase("restarts the count with the next job", again: .any) { fixture in
            try fixture.take("a", "b", "c")
            for process in ["p1", "p2"] {
                try fixture.perform(
                    RecordIntakeCrash(token: fixture.token, process: process, isOnlyApp: true))
            }
            try fixture.perform(split(fixture))
            return RecordIntakeCrash(token: fixture.token, process: "p3", isOnlyApp: true)
        },
        ScriptCase("refuses a partly split job as poison", again: .any) { fixture in
            try fixture.take("big", "next")
            try fixture.perform(fixture.firstPart())
            for process in ["p1", "p2"] {
                try fixture.perform(
                    RecordIntakeCrash(token: fixture.token, process: process, isOnlyApp: true))
            }
            return RecordIntakeCrash(token: fixture.token, process: "p3", isOnlyApp: true)
        },
        ScriptCase("finishes a job whose other pushes have outcomes", again: .any) { fixture in
            try fixture.take("big", "next")
            try fixture.perform(fixture.firstPart())
            let batch = try fixture.checkout().batches[0]
            _ = try fixture.report(batch, 0..<2, entry: StoreFixture.delivered("big", 2))
            try fixture.perform(
                Settle([StoreFixture.settlement(try fixture.results()[0], "big", delivered: 2)]))
            return Refuse(
                token: fixture.token, step: 2, job: nil, field: "f", position: 0, reason: "r", original: [65])
        },
    ]

    /// Limits the intake to few jobs, and makes two jobs in the inbox and `batches` batches. One batch is delayed, and
    /// another batch is quarantined.
    private static func trickle(_ fixture: StoreFixture, batches: Int) throws {
        try fixture.redis.run("HSET", app + "admission", "trickle", "1")
        for batch in 1...batches { try fixture.redis.run("HSET", app + "states", "\(batch)", "x") }
        try fixture.redis.run("ZADD", app + "delayed", "5", "1")
        try fixture.redis.run("RPUSH", app + "paused", "2")
        try fill(fixture, "a", "b")
    }

    private static func owners(_ fixture: StoreFixture, _ fields: String...) throws {
        try fixture.redis.run("DEL", app + "owners")
        for index in stride(from: 0, to: fields.count, by: 2) {
            try fixture.redis.run("HSET", app + "owners", fields[index], fields[index + 1])
        }
    }

    private static func checkout(_ fixture: StoreFixture, credit: Int, known: [BatchID]?) -> Checkout {
        Checkout(
            worker: "w1", credit: credit, maxBatches: 8, known: known,
            shards: (0..<StoreFixture.shards).map { ($0, fixture.token) })
    }

    /// Gives shard 1 to another owner.
    private static func lose(_ fixture: StoreFixture) throws {
        try fixture.redis.run("HSET", app + "owners", "01", "2:n9:x")
    }

    private static let deliveries = [
        ScriptCase("answers for a missing batch that all is reported", again: .same) { fixture in
            fixture.reportRequest(
                BatchID(Array("01.h.gone.1".utf8)), 0..<1, entry: StoreFixture.delivered("a", 1))
        },
        ScriptCase("takes facts about another's shard", again: .other("[.x., 3, 1]")) { fixture in
            let batch = try fixture.held([("a", 3)])
            try lose(fixture)
            return fixture.reportRequest(batch.id, 1..<2, entry: StoreFixture.delivered("a", 1))
        },
        ScriptCase("takes no decision about another's shard", again: .same) { fixture in
            let batch = try fixture.held([("a", 3)])
            try lose(fixture)
            return fixture.reportRequest(batch.id, 1..<2, facts: false, entry: StoreFixture.delivered("a", 1))
        },
        ScriptCase("searches for batches only on request", again: .same) { fixture in
            _ = try fixture.held([("a", 3)])
            return checkout(fixture, credit: 0, known: nil)
        },
        ScriptCase("assigns all batches of a worker again", again: .same) { fixture in
            for step in 1...4 { try fixture.split(step: step, [("j\(step)", 2)]) }
            _ = try fixture.checkout("w1")
            return checkout(fixture, credit: 0, known: [])
        },
        ScriptCase("assigns no batch of another owner's shard", again: .any) { fixture in
            try fixture.split(step: 1, [("a", 2)])
            try fixture.split(step: 2, [("b", 2)], shard: 2)
            try lose(fixture)
            return checkout(fixture, credit: 9, known: nil)
        },
        ScriptCase("returns no batch of another owner's shard", again: .same) { fixture in
            _ = try fixture.held([("a", 3)])
            try lose(fixture)
            return checkout(fixture, credit: 0, known: [])
        },
    ]

    private static let leases = [
        ScriptCase("lists free shards and does not acquire them", again: .any) { fixture in
            try owners(fixture, "01", "4::", "02", "1:n9:x", "until:n9", "\(farAhead)")
            var request = fixture.acquire("n2")
            (request.leases, request.others) = ([.shard(0)], [.shard(1), .shard(2), .shard(3)])
            return request
        },
        ScriptCase("acquires the predecessor's shards among those it lists", again: .any) { fixture in
            try owners(fixture, "01", "4:n1:x", "02", "5:n1.2:x", "03", "6:n12:x", "until:n12", "\(farAhead)")
            var request = fixture.acquire("n2", predecessor: "n1")
            (request.leases, request.others) = ([], [.shard(1), .shard(2), .shard(3)])
            return request
        },
        ScriptCase("acquires a returned shard with the next fencing token", again: .same) { fixture in
            try owners(fixture, "01", "7::", "intake", "3::")
            var request = fixture.acquire("n2")
            request.leases = [.shard(1), .intake]
            return request
        },
        ScriptCase("finds its own leases", again: .same) { fixture in
            try owners(fixture, "01", "7:n2:host", "02", "3:n1:host", "until:n2", "5", "until:n1", "6")
            var request = fixture.acquire("n2")
            request.leases = [.shard(1)]
            return request
        },
        ScriptCase("ignores an end that is later than a lease can last", again: .any) { fixture in
            try owners(fixture, "01", "7:n9:x", "until:n9", "\(farAhead)")
            var request = fixture.acquire("n2")
            request.leases = [.shard(1)]
            return request
        },
        ScriptCase("acquires a live host's shard by force", again: .any) { fixture in
            try owners(fixture, "01", "7:n9:x", "02", "4:n9:x", "until:n9", "\(farAhead)")
            var request = fixture.acquire("n2")
            (request.leases, request.takenFromOwner) = ([.shard(2)], [.shard(1)])
            return request
        },
        ScriptCase("acquires nothing without a request", again: .same) { fixture in
            var request = fixture.acquire("n2")
            request.leases = []
            return request
        },
        ScriptCase("renews its own expired lease", again: .same) { fixture in
            try owners(fixture, "01", "7:n1:host", "02", "3::", "until:n1", "5")
            return RenewLeases(
                nonce: "n1", host: "host", lifetime: .seconds(600), leases: [.shard(1), .shard(2)])
        },
    ]

    private static let settlements = [
        ScriptCase("settles several entries of one job at once", again: .other("[0, 0]")) { fixture in
            let batch = try fixture.held([("a", 9), ("b", 3)])
            for range in [0..<4, 4..<8, 8..<9, 9..<12] {
                _ = try fixture.report(batch, range, entry: StoreFixture.delivered("a", range.count))
            }
            let records = try fixture.results()
            var settlements = records.map { Settlement(entry: $0.id) }
            for index in 0..<3 {
                var job = Settlement.Job(id: "a")
                switch index {
                case 2: job.delivered = 1
                default:
                    (job.delivered, job.failed, job.expired, job.delayed) = (1, 1, 1, 1)
                    (job.maybeDuplicated, job.reasons) = (1, ["same": 1])
                    settlements[index].retries = [
                        .init(
                            shard: index, lane: .high, delay: .seconds(1000 + index), tokens: 1,
                            body: StoreFixture.body([("a", 1)], attempt: 1))
                    ]
                    settlements[index].events = [
                        FarmEvent(.pushFailed, job: "a", token: [UInt8(index)], reason: "same")
                    ]
                }
                settlements[index].jobs = [job]
            }
            var other = Settlement.Job(id: "b")
            (other.failed, other.cancelled, other.reasons) = (2, 1, ["x": 1, "y": 1])
            settlements[3].jobs = [other]
            return Settle(settlements)
        },
        ScriptCase("settles jobs of one push among larger ones", again: .other("[0, 0]")) { fixture in
            let jobs = [("a", 1), ("b", 1), ("c", 3), ("d", 1)]
            let batch = try fixture.held(jobs)
            for (range, (job, _)) in zip([0..<1, 1..<2, 2..<3, 5..<6], jobs) {
                _ = try fixture.report(batch, range, entry: StoreFixture.delivered(job, 1))
            }
            let all = try zip(fixture.results(), jobs).map { StoreFixture.settlement($0, $1.0, delivered: 1) }
            try fixture.perform(Settle([all[1]]))
            return Settle(all)
        },
        ScriptCase("settles the other entries when some are settled already", again: .other("[0, 0]")) {
            fixture in
            let batch = try fixture.held([("a", 3)])
            for range in [0..<1, 1..<2, 2..<3] {
                _ = try fixture.report(batch, range, entry: StoreFixture.delivered("a", 1))
            }
            let all = try fixture.results().map { StoreFixture.settlement($0, "a", delivered: 1) }
            try fixture.perform(Settle([all[1]]))
            return Settle(all)
        },
        ScriptCase(
            "keeps unregistered tokens up to the limit, and their job record as long", again: .other("[0, 0]")
        ) {
            fixture in
            let batch = try fixture.held([("a", 2)])
            _ = try fixture.report(batch, 0..<2, entry: StoreFixture.delivered("a", 2))
            var settlement = StoreFixture.settlement(try fixture.results()[0], "a", delivered: 2)
            (settlement.responses, settlement.scopes) = (2, [StoreFixture.scope])
            settlement.invalidTokens = [
                StoreFixture.dead([1, 2, 3], .unregistered), StoreFixture.dead([4, 5], shard: 0),
            ]
            var retention = kept(1, seconds: 50_000)
            retention.suppressed = 0
            return Settle([settlement], retention: retention)
        },
        ScriptCase("reports an unregistered token that is on no list", again: .other("[0, 0]")) { fixture in
            let batch = try fixture.held([("a", 1)])
            _ = try fixture.report(batch, 0..<1, entry: StoreFixture.delivered("a", 1))
            var settlement = StoreFixture.settlement(try fixture.results()[0], "a", delivered: 1)
            settlement.responses = 1
            settlement.invalidTokens = [StoreFixture.dead([1, 2, 3])]
            settlement.invalidTokens[0].record = nil
            return Settle([settlement])
        },
        ScriptCase(
            "pauses the app when nearly all tokens are invalid, and suppresses none", again: .other("[0, 0]")
        ) {
            fixture in try guarded(fixture, bad: 950)
        },
        ScriptCase("pauses nothing for a few responses, all of them bad", again: .other("[0, 0]")) {
            fixture in
            try one(fixture, responses: 1) { $0.invalidTokens = [StoreFixture.dead([2, 3])] }
        },
        ScriptCase("does not pause while some tokens are valid, and suppresses none", again: .other("[0, 0]"))
        {
            fixture in try guarded(fixture, bad: 949)
        },
        ScriptCase("holds suppressions for confirmation", again: .other("[0, 0]")) { fixture in
            try guarded(fixture, bad: 201)
        },
        ScriptCase("holds more suppressions for confirmation", again: .other("[0, 0]")) { fixture in
            try fixture.perform(guarded(fixture, bad: 201))
            return try one(fixture, responses: 1) { $0.invalidTokens = [StoreFixture.dead([2, 3])] }
        },
        ScriptCase("suppresses at once again when fewer tokens are invalid", again: .other("[0, 0]")) {
            fixture in
            try fixture.perform(guarded(fixture, bad: 201))
            return try one(fixture, responses: 300) { _ in }
        },
        ScriptCase("suppresses tokens at once after an operator's confirmation", again: .other("[0, 0]")) {
            fixture in
            try fixture.perform(guarded(fixture, bad: 201))
            try fixture.perform(ResolveUnconfirmed(.confirm))
            return try one(fixture, responses: 1) { $0.invalidTokens = [StoreFixture.dead([2, 3])] }
        },
        ScriptCase("applies held suppressions when an operator confirms them", again: .other("[0, 0]")) {
            fixture in
            try fixture.perform(guarded(fixture, bad: 201))
            return ResolveUnconfirmed(.confirm)
        },
        ScriptCase("applies a part of the held suppressions", again: .next) { fixture in
            try fixture.perform(guarded(fixture, bad: 201))
            return ResolveUnconfirmed(.confirm, most: 1)
        },
        ScriptCase("drops held suppressions when an operator discards them", again: .other("[0, 0]")) {
            fixture in
            try fixture.perform(guarded(fixture, bad: 201))
            return ResolveUnconfirmed(.discard)
        },
        ScriptCase("applies no suppression before it is due", again: .same) { fixture in
            try fixture.perform(guarded(fixture, bad: 201))
            return ResolveUnconfirmed(.due)
        },
        ScriptCase("applies due suppressions", again: .other("[0, 0]")) { fixture in
            try fixture.perform(guarded(fixture, bad: 201))
            try fixture.perform(try one(fixture, responses: 300) { _ in })
            return ResolveUnconfirmed(.due)
        },
        ScriptCase("suppresses a screening's invalid tokens and pauses nothing", again: .other("[0, 0]")) {
            fixture in
            try fixture.redis.run(
                "HSET", "{pushfarm:demo}:guard", "screened", "1000", "screen_bad", "700", "screen_topic", "0")
            return try one(fixture, responses: 0) { $0.screen([StoreFixture.dead([3, 1])], of: 1) }
        },
        ScriptCase("holds suppressions of a screening whose tokens are all invalid", again: .other("[0, 0]"))
        { fixture in
            try fixture.redis.run(
                "HSET", "{pushfarm:demo}:guard", "screened", "1000", "screen_bad", "999", "screen_topic", "0")
            return try one(fixture, responses: 0) { $0.screen([StoreFixture.dead([3, 1])], of: 1) }
        },
        ScriptCase("pauses the app when a screening's topic is wrong", again: .other("[0, 0]")) { fixture in
            try fixture.redis.run(
                "HSET", "{pushfarm:demo}:guard", "screened", "1000", "screen_bad", "0", "screen_topic", "999")
            return try one(fixture, responses: 0) {
                $0.screen([StoreFixture.dead([3, 1], .deviceTokenNotForTopic)], of: 1)
            }
        },
        ScriptCase("ignores more invalid tokens than responses", again: .other("[0, 0]")) { fixture in
            try fixture.redis.run(
                "HSET", "{pushfarm:demo}:guard", "answers", "1000", "bad", "9223372036854775807")
            return try one(fixture, responses: 1) { $0.invalidTokens = [StoreFixture.dead([2, 3])] }
        },
        ScriptCase("ignores more invalid tokens than responses to a screening", again: .other("[0, 0]")) {
            fixture in
            try fixture.redis.run(
                "HSET", "{pushfarm:demo}:guard", "screened", "1000", "screen_bad", "1e308", "screen_topic",
                "inf")
            return try one(fixture, responses: 0) { $0.screen([StoreFixture.dead([3, 1])], of: 1) }
        },
        ScriptCase("suppresses the tokens that the guard permits", again: .other("[0, 0]")) { fixture in
            try guarded(fixture, bad: 200)
        },
        ScriptCase("suppresses no invalid token of a paused app", again: .other("[0, 0]")) { fixture in
            let settle = try guarded(fixture, bad: 2)
            try fixture.perform(PauseApp(reason: "bad tokens: 1"))
            return settle
        },
        ScriptCase("settles readable entries beside unreadable ones", again: .other("[0, 0]")) { fixture in
            try fixture.split([("a", 2), ("b", 2)])
            let batch = try fixture.checkout().batches[0]
            _ = try fixture.report(batch, 0..<2, entry: StoreFixture.delivered("a", 2))
            _ = try fixture.report(batch, 2..<4, entry: StoreFixture.delivered("b", 2))
            var all = try fixture.results().map { StoreFixture.settlement($0, "a", delivered: 2) }
            all[1].jobs = [Settlement.Job(id: "b")]
            (all[1].jobs[0].failed, all[1].jobs[0].reasons) = (2, ["unreadable": 2])
            all[1].unreadable = .init(why: "odd", pushes: 2, original: [9, 9])
            try fixture.redis.run("HSET", "{pushfarm:demo}:job:a", "delivered", "x")
            try fixture.redis.run("HSET", "{pushfarm:demo}:unsettled", "\(all[0].entry)", "7 why")
            return Settle(all)
        },
        ScriptCase("settles nothing without entries", again: .same) { _ in Settle([]) },
    ]

    /// Makes one more delivered push. Returns a call that settles this push, with a settlement that `change` has changed.
    static func one(
        _ fixture: StoreFixture, responses: Int, _ change: (inout Settlement) -> Void
    ) throws -> Settle {
        let step = try fixture.redis.run("HGET", "{pushfarm:demo}:intake", "step").text == nil ? 1 : 2
        let batch = try fixture.held(step: step, [("more", 1)])
        _ = try fixture.report(batch, 0..<1, entry: StoreFixture.delivered("more", 1))
        var settlement = StoreFixture.settlement(try fixture.results()[0], "more", delivered: 1)
        (settlement.responses, settlement.scopes) = (responses, [StoreFixture.scope])
        change(&settlement)
        return Settle([settlement])
    }

    /// Settles 997 responses with two bad tokens, and sets the guard's count of bad tokens to `bad - 2`.
    /// Returns a call that settles three more responses, two of which add to the guard's count of bad tokens.
    static func guarded(_ fixture: StoreFixture, bad: Int) throws -> Settle {
        let batch = try fixture.held([("a", 3)])
        for place in 0..<3 {
            _ = try fixture.report(batch, place..<place + 1, entry: StoreFixture.delivered("a", 1))
        }
        var all = try fixture.results().map { StoreFixture.settlement($0, "a", delivered: 1) }
        (all[0].responses, all[0].scopes) = (997, [StoreFixture.scope])
        all[0].invalidTokens = [StoreFixture.dead([1, 1]), StoreFixture.dead([1, 2], shard: 2)]
        try fixture.perform(Settle([all[0]]))
        try fixture.redis.run("HSET", "{pushfarm:demo}:guard", "bad", "\(bad - 2)")
        (all[1].responses, all[2].responses) = (2, 1)
        all[1].invalidTokens = [StoreFixture.dead([2, 1]), StoreFixture.dead([3, 1], .unregistered)]
        all[2].invalidTokens = [StoreFixture.dead([2, 2], .invalidToken)]
        return Settle(Array(all[1...]))
    }

    private static let returns = [
        ScriptCase("returns only its own batches of this delivery", again: .any) { fixture in
            for step in 1...3 { try fixture.split(step: step, [("j\(step)", 2)]) }
            let batches = try fixture.checkout(most: 2).batches
            let other = try fixture.checkout("w2").batches
            return PutBack(
                token: fixture.token, worker: "w1",
                batches: [(batches[0].id, 9), (batches[1].id, 1), (other[0].id, 1)])
        },
        ScriptCase("returns several of many batches in flight", again: .any) { fixture in
            for step in 1...5 { try fixture.split(step: step, [("j\(step)", 2)]) }
            let batches = try fixture.checkout(credit: 20).batches
            return PutBack(
                token: fixture.token, worker: "w1", batches: [4, 2, 3].map { (batches[$0].id, 1) })
        },
        ScriptCase("quarantines a batch behind another", again: .any) { fixture in
            try fixture.redis.run("RPUSH", app + "paused", "01.h.other.1")
            return fixture.quarantine(try fixture.held([("a", 2)]))
        },
        ScriptCase("returns no batch that it does not have", again: .same) { fixture in
            try fixture.split([("a", 2)])
            let batch = try fixture.checkout("w2").batches[0]
            return PutBack(token: fixture.token, worker: "w1", batches: [(batch.id, 1)])
        },
        ScriptCase("returns a bulk batch of several jobs", again: .any) { fixture in
            let batch = try fixture.held([("a", 2), ("b", 3)], lane: .bulk)
            _ = try fixture.report(batch, 1..<3, entry: StoreFixture.delivered("a", 2))
            return PutBack(token: fixture.token, worker: "w1", batches: [(batch.id, 1)])
        },
        ScriptCase("closes sent pushes of several job parts", again: .any) { fixture in
            var builder = BatchBuilder()
            for (job, delivery, count) in [
                ("a", DeliveryGuarantee.atLeastOnce, 2), ("b", .atMostOnce, 4), ("c", .atLeastOnce, 3),
            ] {
                let head = JobPartHead(jobID: job, options: PushOptions(delivery: delivery))
                Array("{}".utf8).withUnsafeBytes { builder.begin(head, payload: $0) }
                for token in StoreFixture.tokens(count) {
                    token.withUnsafeBytes { builder.append(token: $0) }
                }
            }
            try fixture.take("x")
            try fixture.perform(
                Split(
                    token: fixture.token, step: 1, dropped: 1,
                    jobs: [("a", 2), ("b", 4), ("c", 3)].map {
                        Split.Job(id: $0, opens: true, submitted: $1, accepted: $1)
                    }, batches: [.init(shard: 1, lane: .bulk, tokens: 9, body: builder.finish() ?? [])]))
            let batch = try fixture.checkout(credit: 8).batches[0]
            _ = try fixture.report(batch, 3..<4, entry: StoreFixture.delivered("b", 1))
            return fixture.reclaim(["w1"])
        },
        ScriptCase("fails no single suspect of a second crash", again: .any) { fixture in
            let batch = try fixture.held([("a", 4)])
            try fixture.set(batch.id, to: "w1|3|2|4,1,1,1,0,2,1,0|3|x...")
            return fixture.reclaim(["w1"], .crash(hadSent: true))
        },
        ScriptCase("reclaims the batches of several workers in order", again: .any) { fixture in
            for step in 1...4 { try fixture.split(step: step, [("j\(step)", 2)]) }
            for worker in ["w1", "w2", "w1", "w3"] { _ = try fixture.checkout(worker, most: 1) }
            try fixture.redis.run("RPUSH", app + "in_flight:01", "01.h.nothing.1")
            return fixture.reclaim(["w1", "w2"])
        },
    ]

    private static let promotions = [
        ScriptCase("moves nothing when nothing is due", again: .same) { fixture in
            _ = try fixture.split([("a", 2)], due: farAhead)
            return PromoteDue()
        },
        ScriptCase("forgets a batch with a state and no body", again: .any) { fixture in
            _ = try fixture.split([("a", 2)], due: farAhead)
            try fixture.makeDue()
            try fixture.redis.run("DEL", app + "batches")
            return PromoteDue()
        },
        ScriptCase("forgets a batch without a body", again: .any) { fixture in
            _ = try fixture.split([("a", 2)], due: farAhead)
            try fixture.redis.run("ZADD", app + "delayed", "1", "01.h.nothing.1")
            return PromoteDue()
        },
    ]
}

extension Settlement {
    mutating func screen(_ tokens: [InvalidToken], of responses: Int) {
        screened = responses
        invalidTokens = tokens
        for index in invalidTokens.indices { invalidTokens[index].isScreened = true }
    }
}
