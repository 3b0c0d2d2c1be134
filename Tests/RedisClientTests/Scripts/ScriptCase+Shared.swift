import PushModel
import RedisProtocol

@testable import RedisClient
@testable import StoreProtocol

/// Edge cases of the files that several scripts share (`Scripts/Shared`). Each case notices a fault that no other test
/// noticed; `make mutants` found these faults.
extension ScriptCase {
    static let shared = lists + cuts + counts

    private static let lists = [
        ScriptCase("grants the suspects of one kill and the pushes behind them", again: .any) { fixture in
            let states = ["2,0,0,0,1,0,0,0|4|x....", "3,0,0,0,1,0,0,0|4|x....", "4,0,0,0,1,0,0,0|1|xxx."]
            for (shard, state) in states.enumerated() {
                try fixture.split(step: shard + 1, [("j\(shard)", shard == 2 ? 4 : 5)], shard: shard)
                let id = try fixture.redis.run("LINDEX", app + "ready:0\(shard)", "0").bytes ?? []
                try fixture.set(BatchID(id), to: "|1|0|" + state)
            }
            return Checkout(
                worker: "w1", credit: 50, maxBatches: 8, known: [],
                shards: (0..<StoreFixture.shards).map { ($0, fixture.token) })
        },
        ScriptCase("quarantines the rest when the first push belongs to a quarantined job", again: .any) {
            fixture in
            try fixture.split([("q", 1), ("a", 2)])
            try fixture.quarantine("q")
            try fixture.redis.run("RPUSH", app + "paused", "01.h.other.1")
            let batch = try fixture.checkout().batches[0]
            return fixture.reportRequest(batch.id, 1..<3, entry: StoreFixture.delivered("a", 2))
        },
        ScriptCase("assigns the rest after the release of its job", again: .any) { fixture in
            let batch = try fixture.held([("q", 1), ("a", 2)])
            try fixture.set(batch.id, to: "w1|1|3||2|p..")
            return fixture.reportRequest(batch.id, 1..<3, entry: StoreFixture.delivered("a", 2))
        },
    ]

    /// Returns a call that refuses the rest of a job of five pushes, after `offset` pushes were split.
    /// `ended` has the outcomes of pushes, as fields of the job record.
    private static func cut(_ fixture: StoreFixture, offset: Int, _ ended: KeyValuePairs<String, String>)
        throws
        -> Refuse
    {
        try fixture.take("big", "next")
        try fixture.perform(fixture.firstPart())
        try fixture.redis.run("HSET", app + "intake", "offset", "\(offset)")
        for (name, value) in ended { try fixture.redis.run("HSET", app + "job:big", name, value) }
        return Refuse(
            token: fixture.token, step: 2, job: nil, field: "tokens", position: 0, reason: "changed",
            original: Array("big".utf8))
    }

    private static let cuts = [
        ScriptCase("fails no push of a job that is split completely", again: .other("0")) { fixture in
            try cut(fixture, offset: 5, [:])
        },
        ScriptCase("fails the one push that is not split", again: .other("0")) { fixture in
            try cut(fixture, offset: 4, [:])
        },
        ScriptCase("fails the rest of a job and finishes it", again: .other("0")) { fixture in
            try cut(fixture, offset: 2, ["expired": "1", "cancelled": "1"])
        },
    ]

    /// Returns a results entry with delivered, failed and expired pushes, with and without tokens, and with retries.
    private static func everyKind() -> [UInt8] {
        var builder = ResultsBuilder()
        let tokens = StoreFixture.tokens(3)
        func each(_ job: String, _ body: (UnsafeRawBufferPointer) -> Void) {
            Array(job.utf8).withUnsafeBytes(body)
        }
        func append() {
            for token in tokens { token.withUnsafeBytes { builder.append(token: $0) } }
        }
        for receipts in [Receipts.all, .failures] {
            each("d") { builder.beginDelivered(jobID: $0, receipts: receipts) }
            append()
            each("f") {
                builder.beginFailed(jobID: $0, reason: "Why", cause: "it", status: 410, receipts: receipts)
            }
            append()
            each("e") { builder.beginExpired(jobID: $0, cause: "late", receipts: receipts) }
            append()
        }
        let head = JobPartHead(jobID: "r", options: PushOptions(), attempt: 1)
        Array("{}".utf8).withUnsafeBytes {
            builder.beginRetry(head, payload: $0, why: .server, status: 503, reason: "Busy")
        }
        append()
        return builder.finish()!
    }

    private static let counts = [
        ScriptCase("names all faults of batches", again: .same) { fixture in
            for step in 1...8 {
                try fixture.split(step: step, [("q\(step)", 1), ("j\(step)", 2)], shard: step % 4)
            }
            let ids = try (0..<8).map { place in
                BatchID(
                    try fixture.redis.run("LINDEX", app + "ready:0\((place + 1) % 4)", "\(place / 4)").bytes
                        ?? [])
            }
            let states = [
                "|1|0||2|...", "|1|0||0|pxx", "|1|1||3|...", "w1|1|0||3|...", "|1|0||2|..", "|1|9||3|...",
                "|1|0||2|p..",
            ]
            for (id, state) in zip(ids, states) { try fixture.set(id, to: state) }
            for list in ["bulk:01", "ready:02", "in_flight:03", "paused", "paused"] {
                try fixture.redis.run("RPUSH", app + list, "\(ids[0])", "\(ids[1])", "\(ids[6])")
            }
            try fixture.redis.run(
                "ZADD", app + "delayed", "1", "\(ids[1])", "2", "\(ids[2])", "3", "\(ids[3])")
            try fixture.redis.run("HDEL", app + "states", "\(ids[7])")
            try fixture.redis.run("LPOP", app + "ready:01")
            try fixture.redis.run("HSET", app + "batches", "lone", "x")
            try fixture.redis.run("HSET", app + "states", "lost", "|1|0||1|.", "01.h.bare", "|1|0||1|.")
            try fixture.redis.run("RPUSH", app + "ready:00", "01.h.bare")
            return CheckAccounting(shards: StoreFixture.shards)
        },
        ScriptCase("counts each kind of results", again: .same) { fixture in
            var command = RESPCommand("XADD", app + "results", "*", "r")
            command.append(everyKind())
            try fixture.redis.run(command)
            var closed = RESPCommand("XADD", app + "results", "*", "p", "1-2,4-4", "b")
            closed.append(StoreFixture.body([("x", 3), ("y", 1), ("z", 2)]))
            try fixture.redis.run(closed)
            for entry in ["?nonsense", "\u{1}Z\u{1}a"] {
                try fixture.redis.run("XADD", app + "results", "*", "r", entry)
            }
            return CheckAccounting(shards: StoreFixture.shards)
        },
    ]
}
