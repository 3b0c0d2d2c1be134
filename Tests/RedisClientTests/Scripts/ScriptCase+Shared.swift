import PushModel
import RedisProtocol

@testable import RedisClient
@testable import StoreProtocol

/// What several scripts share (`Scripts/Shared`), at its edges: each was found by `make mutants`.
extension ScriptCase {
    static let shared = lists + cuts + counts

    private static let lists = [
        ScriptCase("grants suspects of one kill and what is behind them alike", again: .any) { desk in
            let states = ["2,0,0,0,1,0,0,0|4|x....", "3,0,0,0,1,0,0,0|4|x....", "4,0,0,0,1,0,0,0|1|xxx."]
            for (shard, state) in states.enumerated() {
                try desk.split(step: shard + 1, [("j\(shard)", shard == 2 ? 4 : 5)], shard: shard)
                let id = try desk.redis.run("LINDEX", app + "ready:0\(shard)", "0").bytes ?? []
                try desk.set(BatchID(id), to: "|1|0|" + state)
            }
            return Checkout(
                worker: "w1", credit: 50, maxBatches: 8, known: [],
                shards: (0..<Desk.shards).map { ($0, desk.token) })
        },
        ScriptCase("parks what is left when the first push is a quarantined job's", again: .any) { desk in
            try desk.split([("q", 1), ("a", 2)])
            try desk.quarantine("q")
            try desk.redis.run("RPUSH", app + "paused", "01.h.other.1")
            let batch = try desk.checkout().batches[0]
            return desk.reportRequest(batch.id, 1..<3, entry: Desk.delivered("a", 2))
        },
        ScriptCase("gives what is left when its job was released meanwhile", again: .any) { desk in
            let batch = try desk.held([("q", 1), ("a", 2)])
            try desk.set(batch.id, to: "w1|1|3||2|p..")
            return desk.reportRequest(batch.id, 1..<3, entry: Desk.delivered("a", 2))
        },
    ]

    /// Refuses what is left of a job of five pushes, of which so many are split and these have ended.
    private static func cut(_ desk: Desk, offset: Int, _ ended: KeyValuePairs<String, String>) throws
        -> Refuse
    {
        try desk.take("big", "next")
        try desk.perform(desk.firstPart())
        try desk.redis.run("HSET", app + "intake", "offset", "\(offset)")
        for (name, value) in ended { try desk.redis.run("HSET", app + "job:big", name, value) }
        return Refuse(
            token: desk.token, step: 2, job: nil, field: "tokens", position: 0, reason: "changed",
            original: Array("big".utf8))
    }

    private static let cuts = [
        ScriptCase("fails nothing of a job that is split to its end", again: .other("0")) { desk in
            try cut(desk, offset: 5, [:])
        },
        ScriptCase("fails the one push that is not split", again: .other("0")) { desk in
            try cut(desk, offset: 4, [:])
        },
        ScriptCase("fails the rest of a job, which ends with it", again: .other("0")) { desk in
            try cut(desk, offset: 2, ["expired": "1", "cancelled": "1"])
        },
    ]

    /// An item of each kind, with and without tokens.
    private static func everyKind() -> [UInt8] {
        var builder = ResultsBuilder()
        let tokens = Desk.tokens(3)
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
        let head = SegmentHead(jobID: "r", options: PushOptions(), attempt: 1)
        Array("{}".utf8).withUnsafeBytes {
            builder.beginRetry(head, payload: $0, why: .server, status: 503, reason: "Busy")
        }
        append()
        return builder.finish()!
    }

    private static let counts = [
        ScriptCase("names all that is wrong with batches", again: .same) { desk in
            for step in 1...8 {
                try desk.split(step: step, [("q\(step)", 1), ("j\(step)", 2)], shard: step % 4)
            }
            let ids = try (0..<8).map { place in
                BatchID(
                    try desk.redis.run("LINDEX", app + "ready:0\((place + 1) % 4)", "\(place / 4)").bytes
                        ?? [])
            }
            let states = [
                "|1|0||2|...", "|1|0||0|pxx", "|1|1||3|...", "w1|1|0||3|...", "|1|0||2|..", "|1|9||3|...",
                "|1|0||2|p..",
            ]
            for (id, state) in zip(ids, states) { try desk.set(id, to: state) }
            for list in ["bulk:01", "ready:02", "in_flight:03", "paused", "paused"] {
                try desk.redis.run("RPUSH", app + list, "\(ids[0])", "\(ids[1])", "\(ids[6])")
            }
            try desk.redis.run("ZADD", app + "delayed", "1", "\(ids[1])", "2", "\(ids[2])", "3", "\(ids[3])")
            try desk.redis.run("HDEL", app + "states", "\(ids[7])")
            try desk.redis.run("LPOP", app + "ready:01")
            try desk.redis.run("HSET", app + "batches", "lone", "x")
            try desk.redis.run("HSET", app + "states", "lost", "|1|0||1|.", "01.h.bare", "|1|0||1|.")
            try desk.redis.run("RPUSH", app + "ready:00", "01.h.bare")
            return Audit(shards: Desk.shards)
        },
        ScriptCase("counts what entries say of each kind", again: .same) { desk in
            var command = RESPCommand("XADD", app + "results", "*", "r")
            command.append(everyKind())
            try desk.redis.run(command)
            var closed = RESPCommand("XADD", app + "results", "*", "p", "1-2,4-4", "b")
            closed.append(Desk.body([("x", 3), ("y", 1), ("z", 2)]))
            try desk.redis.run(closed)
            for entry in ["?nonsense", "\u{1}Z\u{1}a"] {
                try desk.redis.run("XADD", app + "results", "*", "r", entry)
            }
            return Audit(shards: Desk.shards)
        },
    ]
}
