import PushModel

@testable import RedisClient
@testable import StoreProtocol

/// Cases of the scripts for jobs that name users or devices, and of a job whose recipients are not all known.
extension ScriptCase {
    static let lookups = queueLookups + takenForLookup + finishedLookups

    private static let queueLookups = [
        ScriptCase("queues the first taken jobs", again: .other("0")) { fixture in
            try fixture.take("a", "b", "c")
            return QueueLookups(token: fixture.token, step: 1, jobs: 2)
        },
        ScriptCase("queues a suspect job", again: .other("0")) { fixture in
            try fixture.take("a", "b", "c")
            try fixture.perform(RecordIntakeCrash(token: fixture.token, process: "p1", isOnlyApp: true))
            return QueueLookups(token: fixture.token, step: 1, jobs: 1)
        },
        ScriptCase("queues no more jobs than are taken", again: .refused("error TAKEN 1")) { fixture in
            try fixture.take("a")
            return QueueLookups(token: fixture.token, step: 1, jobs: 2)
        },
        ScriptCase("queues jobs in the order of steps", again: .refused("error STEP 0")) { fixture in
            try fixture.take("a")
            return QueueLookups(token: fixture.token, step: 2, jobs: 1)
        },
        ScriptCase("splits a job with unknown recipients", again: .other("[0]")) { fixture in
            try fixture.take("a", "next")
            return Split(
                token: fixture.token, step: 1, dropped: 1,
                jobs: [Split.Job(id: "a", opens: true, submitted: 1, accepted: 1, unknownRecipients: 3)],
                batches: [.init(shard: 0, lane: .high, tokens: 1, body: StoreFixture.body([("a", 1)]))])
        },
        ScriptCase("splits a job with pushes that the budget left out", again: .other("[0]")) { fixture in
            try fixture.take("a", "next")
            return Split(
                token: fixture.token, step: 1, dropped: 1,
                jobs: [Split.Job(id: "a", opens: true, submitted: 1, accepted: 1, capped: 2)],
                batches: [.init(shard: 0, lane: .high, tokens: 1, body: StoreFixture.body([("a", 1)]))])
        },
        ScriptCase("finishes a job that has only unknown recipients", again: .other("[0]")) { fixture in
            try fixture.take("a", "next")
            return Split(
                token: fixture.token, step: 1, dropped: 1,
                jobs: [Split.Job(id: "a", opens: true, submitted: 0, accepted: 0, unknownRecipients: 2)],
                batches: [])
        },
    ]

    private static let takenForLookup = [
        ScriptCase("reads waiting jobs up to the limit of jobs", again: .same) { fixture in
            try fixture.queueLookups("a", "b", "c")
            return ReadLookups(token: fixture.token, maxJobs: 2, maxBytes: 1000)
        },
        ScriptCase("reads waiting jobs up to the limit of bytes", again: .same) { fixture in
            try fixture.queueLookups("aaa", "bbb", "c")
            return ReadLookups(token: fixture.token, maxJobs: 9, maxBytes: 6)
        },
        ScriptCase("reads no waiting job when there is none", again: .same) { fixture in
            ReadLookups(token: fixture.token, maxJobs: 9, maxBytes: 6, triedBy: "p1")
        },
        ScriptCase("tries the first waiting job alone", again: .same) { fixture in
            try fixture.queueLookups("a", "b")
            return ReadLookups(token: fixture.token, maxJobs: 9, maxBytes: 1000, triedBy: "p1")
        },
        ScriptCase("counts a second process that tries the job", again: .same) { fixture in
            try fixture.queueLookups("a", "b")
            try fixture.tryLookup("p1")
            return ReadLookups(token: fixture.token, maxJobs: 9, maxBytes: 1000, triedBy: "p2")
        },
        ScriptCase("refuses a waiting job that three processes did not survive", again: .next) { fixture in
            try fixture.queueLookups(String(repeating: "x", count: 65_540), "b")
            for process in ["p1", "p2", "p3"] { try fixture.tryLookup(process) }
            return ReadLookups(token: fixture.token, maxJobs: 9, maxBytes: 1000, triedBy: "p4")
        },
        ScriptCase("forgets the tries of a process that survives a look-up", again: .same) { fixture in
            try fixture.queueLookups("a")
            try fixture.tryLookup("p1")
            return ReadLookups(token: fixture.token, maxJobs: 0, maxBytes: 1000)
        },
    ]

    private static let finishedLookups = [
        ScriptCase("puts jobs with tokens into the inbox, and refuses others", again: .other("0")) {
            fixture in
            try fixture.queueLookups("a", "bad", "c", "d", "e", "f", "g")
            try fixture.tryLookup("p1")
            return FinishLookups(
                token: fixture.token, step: 1,
                jobs: [
                    .found(Array("A".utf8)),
                    .refused(id: "j", field: "users", position: 7, reason: "too many"),
                    .found(Array("C".utf8)),
                ])
        },
        ScriptCase(
            "stores the counters of the budget, and reports pushes that it left out", again: .other("0")
        ) {
            fixture in
            try fixture.queueLookups("a", "bad", "c")
            let seconds = try fixture.redis.run("TIME").array?.first?.text.flatMap { Int64($0) } ?? 0
            let expiry = (seconds + 101) * 1000
            return FinishLookups(
                token: fixture.token, step: 1,
                jobs: [
                    .found(Array("A".utf8)),
                    .refused(id: "j", field: "users", position: 7, reason: "too many"),
                ],
                counters: ["00:0", "01:0"].map {
                    .init(key: "caps:@background:hour:1:" + $0, bytes: [0, 1, 1], expiresAt: expiry)
                },
                events: [1, 2].map { FarmEvent(.pushCapped, job: "a", token: [$0]) })
        },
        ScriptCase("finishes no more look-ups than jobs wait", again: .refused("error TAKEN 1")) { fixture in
            try fixture.queueLookups("a")
            return FinishLookups(
                token: fixture.token, step: 1, jobs: [.found(Array("A".utf8)), .found(Array("B".utf8))])
        },
        ScriptCase("finishes look-ups in the order of steps", again: .refused("error STEP 0")) { fixture in
            try fixture.queueLookups("a")
            return FinishLookups(token: fixture.token, step: 2, jobs: [.found(Array("A".utf8))])
        },
    ]
}

extension StoreFixture {
    /// Makes jobs wait for a look-up.
    func queueLookups(_ jobs: String...) throws {
        try run(["RPUSH", "{pushfarm:demo}:lookups"] + jobs)
    }

    fileprivate func tryLookup(_ process: String) throws {
        _ = try perform(ReadLookups(token: token, maxJobs: 1, maxBytes: 1000, triedBy: process))
    }
}
