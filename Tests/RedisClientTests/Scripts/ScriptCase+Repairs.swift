import PushModel
import RedisProtocol

@testable import RedisClient
@testable import StoreProtocol

/// Repairs of `fsck` with several faults at a time. Each case notices a fault that no other test noticed; `make mutants`
/// found these faults.
extension ScriptCase {
    static let repairs = batches + jobRecords

    private static func repair(_ id: BatchID) -> Repair {
        Repair(.batch("\(id)"), shards: StoreFixture.shards)
    }

    private static func push(_ fixture: StoreFixture, _ list: String, _ ids: String...) throws {
        for id in ids { try fixture.redis.run("RPUSH", app + list, id) }
    }

    /// Makes a batch that is in no list. Its first push belongs to a quarantined job, and its second push was reported.
    private static func batchInNoList(_ fixture: StoreFixture) throws -> BatchID {
        try fixture.split([("q", 1), ("a", 1)])
        try fixture.quarantine("q")
        let batch = try first(fixture)
        try fixture.set(batch, to: "|1|0||0|px")
        try fixture.redis.run("DEL", app + "ready:01")
        return batch
    }

    private static let batches = [
        ScriptCase("puts a batch at the end of its list", again: .other("[]")) { fixture in
            let batch = try fixture.held([("a", 1)])
            try fixture.split(step: 2, [("b", 1)])
            try fixture.redis.run("DEL", app + "in_flight:01")
            return repair(batch.id)
        },
        ScriptCase("keeps the first of a batch that is in its list twice", again: .other("[]")) { fixture in
            for step in 1...2 { try fixture.split(step: step, [("j\(step)", 2)]) }
            let batch = try first(fixture)
            try push(fixture, "ready:01", "\(batch)")
            try push(fixture, "ready:04", "\(batch)")
            return repair(batch)
        },
        ScriptCase(
            "counts granted pushes as possibly duplicated in existing job records", again: .other("[]")
        ) {
            fixture in
            try fixture.split([("a", 1), ("gone", 1), ("b", 3), ("c", 1)])
            let batch = try first(fixture)
            try fixture.set(batch, to: "|1|3||6|......")
            try fixture.redis.run("DEL", app + "job:gone")
            return repair(batch)
        },
        ScriptCase("counts the only granted push as possibly duplicated", again: .other("[]")) { fixture in
            try fixture.split([("a", 4)])
            let batch = try first(fixture)
            try fixture.set(batch, to: "|1|1||4|....")
            return repair(batch)
        },
        ScriptCase("leaves a delayed batch with the worker that has it", again: .other("[]")) { fixture in
            let batch = try fixture.held([("a", 2)])
            try fixture.redis.run("ZADD", app + "delayed", "5", "\(batch.id)")
            return repair(batch.id)
        },
        ScriptCase("leaves a quarantined job's batch paused, once", again: .other("[]")) { fixture in
            let batch = try batchInNoList(fixture)
            try push(fixture, "paused", "\(batch)", "01.h.other.1", "\(batch)")
            return repair(batch)
        },
        ScriptCase("leaves a batch paused that could be sent", again: .other("[]")) { fixture in
            let batch = try fixture.held([("a", 2)])
            try fixture.perform(fixture.quarantine(batch))
            try push(fixture, "paused", "\(batch.id)")
            return repair(batch.id)
        },
        ScriptCase("pauses a quarantined job's batch that is in no list", again: .other("[]")) { fixture in
            let batch = try batchInNoList(fixture)
            try push(fixture, "paused", "01.h.other.1")
            try fixture.set(batch, to: "|1|0||2|px")
            return repair(batch)
        },
        ScriptCase("drops an id without a batch", again: .other("[]")) { fixture in
            try push(fixture, "bulk:02", "02.b.none.1")
            return Repair(.batch("02.b.none.1"), shards: StoreFixture.shards)
        },
        ScriptCase("quarantines a batch of an unknown shard", again: .other("[]")) { fixture in
            try repairWithWrongID(fixture, "04.h.new.1")
        },
        ScriptCase("quarantines a batch without a lane", again: .other("[]")) { fixture in
            try repairWithWrongID(fixture, "01.q.new.1")
        },
    ]

    /// Returns a repair of a valid batch whose id is wrong.
    private static func repairWithWrongID(_ fixture: StoreFixture, _ id: String) throws -> Repair {
        try fixture.redis.run("HSET", app + "states", id, "|0|0||2|..")
        var command = RESPCommand("HSET", app + "batches", id)
        command.append(StoreFixture.body([("a", 2)]))
        try fixture.redis.run(command)
        return Repair(.batch(id), shards: StoreFixture.shards)
    }

    /// Writes the fields of a job record and its score in the sorted set of jobs.
    private static func jobRecord(
        _ fixture: StoreFixture, _ job: String, _ fields: KeyValuePairs<String, String>
    ) throws {
        for (name, value) in fields { try fixture.redis.run("HSET", app + "job:\(job)", name, value) }
        try fixture.redis.run("ZADD", app + "jobs", "7", job)
    }

    private static let jobRecords = [
        ScriptCase("finishes jobs with any outcome", again: .other("[]")) { fixture in
            try jobRecord(fixture, "a", ["state": "open", "accepted": "3", "delivered": "3"])
            try jobRecord(fixture, "b", ["state": "open", "accepted": "5", "expired": "3", "cancelled": "2"])
            try jobRecord(fixture, "c", ["state": "finished", "accepted": "1", "expired": "1"])
            return Repair(.jobRecords(nil), shards: StoreFixture.shards)
        },
        ScriptCase("finds more pushes than were accepted", again: .other("[]")) { fixture in
            for step in 1...2 { try fixture.split(step: step, [("j\(step)", 4)]) }
            try jobRecord(fixture, "j1", ["accepted": "2", "submitted": "3", "delivered": "2"])
            try jobRecord(
                fixture, "j2", ["accepted": "4", "submitted": "4", "expired": "1", "cancelled": "1"])
            return Repair(.jobRecords(nil), shards: StoreFixture.shards)
        },
        ScriptCase("reopens a finished job with open pushes", again: .other("[]")) { fixture in
            try fixture.split([("a", 4)])
            _ = try fixture.checkout()
            try jobRecord(fixture, "a", ["state": "finished", "finished_at": "5", "in_flight": "odd"])
            try fixture.redis.run("EXPIRE", app + "job:a", "1000")
            return Repair(.jobRecords(nil), shards: StoreFixture.shards)
        },
        ScriptCase("restores the list of jobs from the job records", again: .other("[]")) { fixture in
            for step in 1...4 { try fixture.split(step: step, [("j\(step)", 2)]) }
            try fixture.redis.run("DEL", app + "job:j1", app + "job:j2", app + "load")
            try fixture.redis.run("ZADD", app + "jobs", "5", "j1", "6", "ghost")
            try fixture.redis.run("HSET", app + "job:j3", "created_at", "8")
            try fixture.redis.run("HSET", app + "job:j4", "created_at", "9")
            try fixture.redis.run("ZREM", app + "jobs", "j2", "j3")
            return Repair(.jobRecords(nil), shards: StoreFixture.shards)
        },
        ScriptCase("keeps the pushes that are not split yet", again: .same) { fixture in
            try fixture.take("a")
            try fixture.perform(fixture.firstPart())
            return Repair(.jobRecords(nil), shards: StoreFixture.shards)
        },
        ScriptCase("repairs the named job records and those of open pushes", again: .any) {
            fixture in
            let batch = try fixture.held([("a", 2), ("b", 1), ("c", 1)])
            try fixture.set(batch.id, to: "w1|1|4||1|xx.x")
            for job in ["a", "b", "c"] {
                try jobRecord(fixture, job, ["accepted": job == "b" ? "1" : "0", "in_flight": "9"])
            }
            return Repair(.jobRecords(["c", "none"]), shards: StoreFixture.shards)
        },
    ]
}
