import PushModel
import RedisProtocol

@testable import RedisClient
@testable import StoreProtocol

/// What `fsck` repairs when more than one thing is wrong: each was found by `make mutants`.
extension ScriptCase {
    static let repairs = batches + jobRecords

    private static func repair(_ id: BatchID) -> Repair { Repair(.batch("\(id)"), shards: Desk.shards) }

    private static func push(_ desk: Desk, _ list: String, _ ids: String...) throws {
        for id in ids { try desk.redis.run("RPUSH", app + list, id) }
    }

    /// A batch whose first push is a quarantined job's, and whose other was handed over; no list has it.
    private static func shelved(_ desk: Desk) throws -> BatchID {
        try desk.split([("q", 1), ("a", 1)])
        try desk.quarantine("q")
        let batch = try first(desk)
        try desk.set(batch, to: "|1|0||0|px")
        try desk.redis.run("DEL", app + "ready:01")
        return batch
    }

    private static let batches = [
        ScriptCase("puts a batch behind those that wait", again: .other("[]")) { desk in
            let batch = try desk.held([("a", 1)])
            try desk.split(step: 2, [("b", 1)])
            try desk.redis.run("DEL", app + "in_flight:01")
            return repair(batch.id)
        },
        ScriptCase("keeps the first of a batch that is in its list twice", again: .other("[]")) { desk in
            for step in 1...2 { try desk.split(step: step, [("j\(step)", 2)]) }
            let batch = try first(desk)
            try push(desk, "ready:01", "\(batch)")
            try push(desk, "ready:04", "\(batch)")
            return repair(batch)
        },
        ScriptCase("counts as doubtful what was granted, for accounts that are there", again: .other("[]")) {
            desk in
            try desk.split([("a", 1), ("gone", 1), ("b", 3), ("c", 1)])
            let batch = try first(desk)
            try desk.set(batch, to: "|1|3||6|......")
            try desk.redis.run("DEL", app + "job:gone")
            return repair(batch)
        },
        ScriptCase("counts as doubtful the one push that was granted", again: .other("[]")) { desk in
            try desk.split([("a", 4)])
            let batch = try first(desk)
            try desk.set(batch, to: "|1|1||4|....")
            return repair(batch)
        },
        ScriptCase("leaves a worker what is put off as well", again: .other("[]")) { desk in
            let batch = try desk.held([("a", 2)])
            try desk.redis.run("ZADD", app + "delayed", "5", "\(batch.id)")
            return repair(batch.id)
        },
        ScriptCase("leaves parked what a quarantined job has, once", again: .other("[]")) { desk in
            let batch = try shelved(desk)
            try push(desk, "paused", "\(batch)", "01.h.other.1", "\(batch)")
            return repair(batch)
        },
        ScriptCase("leaves parked what could be sent", again: .other("[]")) { desk in
            let batch = try desk.held([("a", 2)])
            try desk.perform(desk.park(batch))
            try push(desk, "paused", "\(batch.id)")
            return repair(batch.id)
        },
        ScriptCase("parks what a quarantined job has and no list", again: .other("[]")) { desk in
            let batch = try shelved(desk)
            try push(desk, "paused", "01.h.other.1")
            try desk.set(batch, to: "|1|0||2|px")
            return repair(batch)
        },
        ScriptCase("drops an id with nothing behind it", again: .other("[]")) { desk in
            try push(desk, "bulk:02", "02.b.none.1")
            return Repair(.batch("02.b.none.1"), shards: Desk.shards)
        },
        ScriptCase("sets aside a batch of a shard that is not there", again: .other("[]")) { desk in
            try misnamed(desk, "04.h.new.1")
        },
        ScriptCase("sets aside a batch of no lane", again: .other("[]")) { desk in
            try misnamed(desk, "01.q.new.1")
        },
    ]

    /// A batch that is whole, but for its name.
    private static func misnamed(_ desk: Desk, _ id: String) throws -> Repair {
        try desk.redis.run("HSET", app + "states", id, "|0|0||2|..")
        var command = RESPCommand("HSET", app + "batches", id)
        command.append(Desk.body([("a", 2)]))
        try desk.redis.run(command)
        return Repair(.batch(id), shards: Desk.shards)
    }

    /// The fields of a job record, and its place in the list of jobs.
    private static func jobRecord(_ desk: Desk, _ job: String, _ fields: KeyValuePairs<String, String>) throws
    {
        for (name, value) in fields { try desk.redis.run("HSET", app + "job:\(job)", name, value) }
        try desk.redis.run("ZADD", app + "jobs", "7", job)
    }

    private static let jobRecords = [
        ScriptCase("finishes what has ended in whatever way", again: .other("[]")) { desk in
            try jobRecord(desk, "a", ["state": "open", "accepted": "3", "delivered": "3"])
            try jobRecord(desk, "b", ["state": "open", "accepted": "5", "expired": "3", "cancelled": "2"])
            try jobRecord(desk, "c", ["state": "finished", "accepted": "1", "expired": "1"])
            return Repair(.jobRecords(nil), shards: Desk.shards)
        },
        ScriptCase("finds more than was accepted", again: .other("[]")) { desk in
            for step in 1...2 { try desk.split(step: step, [("j\(step)", 4)]) }
            try jobRecord(desk, "j1", ["accepted": "2", "submitted": "3", "delivered": "2"])
            try jobRecord(desk, "j2", ["accepted": "4", "submitted": "4", "expired": "1", "cancelled": "1"])
            return Repair(.jobRecords(nil), shards: Desk.shards)
        },
        ScriptCase("keeps what was ended and is open", again: .other("[]")) { desk in
            try desk.split([("a", 4)])
            _ = try desk.checkout()
            try jobRecord(desk, "a", ["state": "finished", "finished_at": "5", "in_flight": "odd"])
            try desk.redis.run("EXPIRE", app + "job:a", "1000")
            return Repair(.jobRecords(nil), shards: Desk.shards)
        },
        ScriptCase("makes the list of jobs what accounts there are", again: .other("[]")) { desk in
            for step in 1...4 { try desk.split(step: step, [("j\(step)", 2)]) }
            try desk.redis.run("DEL", app + "job:j1", app + "job:j2", app + "load")
            try desk.redis.run("ZADD", app + "jobs", "5", "j1", "6", "ghost")
            try desk.redis.run("HSET", app + "job:j3", "created_at", "8")
            try desk.redis.run("HSET", app + "job:j4", "created_at", "9")
            try desk.redis.run("ZREM", app + "jobs", "j2", "j3")
            return Repair(.jobRecords(nil), shards: Desk.shards)
        },
        ScriptCase("loses nothing of what is not split yet", again: .same) { desk in
            try desk.take("a")
            try desk.perform(desk.firstPart())
            return Repair(.jobRecords(nil), shards: Desk.shards)
        },
        ScriptCase("mends the accounts that are named, and those of open pushes", again: .any) {
            desk in
            let batch = try desk.held([("a", 2), ("b", 1), ("c", 1)])
            try desk.set(batch.id, to: "w1|1|4||1|xx.x")
            for job in ["a", "b", "c"] {
                try jobRecord(desk, job, ["accepted": job == "b" ? "1" : "0", "in_flight": "9"])
            }
            return Repair(.jobRecords(["c", "none"]), shards: Desk.shards)
        },
    ]
}
