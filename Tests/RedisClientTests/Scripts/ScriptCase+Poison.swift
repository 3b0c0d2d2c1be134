import PushModel

@testable import RedisClient
@testable import StoreProtocol

extension ScriptCase {
    private static let nothing = Answer.other("[0, 0, 0, 0, 0, [], [], []]")

    /// Workers that are lost by what they sent, and what becomes of it.
    static let poison = [
        ScriptCase("tells what a worker had in the air", again: .same) { desk in
            for shard in 0..<3 { try desk.split(step: shard + 1, [("j\(shard)", 3)], shard: shard) }
            let batches = try desk.checkout(credit: 8).batches
            _ = try desk.report(batches[0], 0..<3, entry: Desk.delivered("j0", 3))
            _ = try desk.report(batches[1], 0..<1, entry: Desk.delivered("j1", 1))
            return ReadAccused(worker: "w1", shards: Array(0..<Desk.shards))
        },
        ScriptCase("makes the suspects of a crash go in groups, alone", again: nothing) { desk in
            try desk.split([("a", 10), ("b", 6)])
            let batch = try desk.checkout(credit: 12).batches[0]
            _ = try desk.report(batch, 0..<1, entry: Desk.delivered("a", 1))
            return desk.reclaim(["w1"], .crash(hadSent: true))
        },
        ScriptCase("makes the suspects of a second crash go one by one", again: nothing) { desk in
            let batch = try desk.held([("a", 10)])
            try desk.set(batch.id, to: "w1|2|7|10,4,1,1,0,0,0,0|9|x.........")
            return desk.reclaim(["w1"], .crash(hadSent: true))
        },
        ScriptCase("fails the single suspect of a third crash", again: nothing) { desk in
            let batch = try desk.held([("a", 4)])
            try desk.set(batch.id, to: "w1|3|2|4,1,1,2,0,2,1,0|3|x...")
            return desk.reclaim(["w1"], .crash(hadSent: true))
        },
        ScriptCase("fails the only push of a batch", again: nothing) { desk in
            let batch = try desk.held([("a", 1)])
            try desk.set(batch.id, to: "w1|3|1|1,1,1,2,0,1,2,0|1|.")
            return desk.reclaim(["w1"], .crash(hadSent: true))
        },
        ScriptCase("begins again when the suspects got through", again: nothing) { desk in
            let batch = try desk.held([("a", 5)])
            try desk.set(batch.id, to: "w1|3|5|2,1,1,2,0,2,1,0|2|xxx..")
            return desk.reclaim(["w1"], .crash(hadSent: true))
        },
        ScriptCase("counts the first kill, which changes nothing", again: nothing) { desk in
            _ = try desk.held([("a", 9)])
            return desk.reclaim(["w1"], .kill(hadSent: true, recent: 1))
        },
        ScriptCase("holds the second kill in a row against the batch", again: nothing) { desk in
            let batch = try desk.held([("a", 9)])
            try desk.set(batch.id, to: "w1|2|6|9,0,0,0,1,0,0,0|9|.........")
            return desk.reclaim(["w1"], .kill(hadSent: true, recent: 2))
        },
        ScriptCase("makes groups of many suspects of two kills", again: nothing) { desk in
            let batch = try desk.held([("a", 65)])
            try desk.set(batch.id, to: "w1|2|65|65,0,0,0,1,0,0,0|65|" + String(repeating: ".", count: 65))
            return desk.reclaim(["w1"], .kill(hadSent: true, recent: 2))
        },
        ScriptCase("does not amid other kills", again: nothing) { desk in
            let batch = try desk.held([("a", 9)])
            try desk.set(batch.id, to: "w1|2|6|9,0,0,0,1,0,0,0|9|.........")
            return desk.reclaim(["w1"], .kill(hadSent: true, recent: 5))
        },
        ScriptCase("fails the single suspect of a fourth kill", again: nothing) { desk in
            let batch = try desk.held([("a", 3)])
            try desk.set(batch.id, to: "w1|4|2|3,1,1,0,3,2,1,0|2|x..")
            return desk.reclaim(["w1"], .kill(hadSent: true, recent: 4))
        },
        ScriptCase("fails nobody at a second crash", again: nothing) { desk in
            let batch = try desk.held([("a", 1)])
            try desk.set(batch.id, to: "w1|2|1|1,1,1,1,0,1,1,0|1|.")
            return desk.reclaim(["w1"], .crash(hadSent: true))
        },
        ScriptCase("blames a job for what is lost by being sent at most once", again: nothing) { desk in
            try desk.split([("a", 9)], delivery: .atMostOnce)
            _ = try desk.checkout(credit: 6)
            return desk.reclaim(["w1"], .crash(hadSent: true))
        },
        ScriptCase("blames none of two jobs for that", again: nothing) { desk in
            try desk.split([("a", 2), ("b", 2)], delivery: .atMostOnce)
            _ = try desk.checkout(credit: 3)
            return desk.reclaim(["w1"], .crash(hadSent: true))
        },
        ScriptCase("parks what nobody can read, and takes back the rest", again: nothing) { desk in
            for step in 1...3 { try desk.split(step: step, [("j\(step)", 2)]) }
            let batches = try desk.checkout().batches
            try desk.redis.run("HSET", "{pushfarm:demo}:batches", "\(batches[1].id)", "?")
            return desk.reclaim(["w1"], .crash(hadSent: true))
        },
        ScriptCase("parks what nobody can read, and gives the rest", again: .any) { desk in
            for step in 1...3 { try desk.split(step: step, [("j\(step)", 2)]) }
            let second = try desk.redis.run("LINDEX", "{pushfarm:demo}:ready:01", "1").text ?? ""
            try desk.redis.run("HSET", "{pushfarm:demo}:batches", second, "?")
            return Checkout(
                worker: "w1", credit: 50, maxBatches: 8, known: [],
                shards: (0..<Desk.shards).map { ($0, desk.token) })
        },
        ScriptCase("leaves parked what nobody can read", again: .other("[0, -1, 0, 0]")) { desk in
            for step in 1...2 { try desk.perform(desk.park(try desk.held(step: step, [("j\(step)", 2)]))) }
            let first = try desk.redis.run("LINDEX", "{pushfarm:demo}:paused", "0").text ?? ""
            try desk.redis.run("HSET", "{pushfarm:demo}:batches", first, "?")
            return Release(.job("j2"))
        },
        ScriptCase("ends the quarantine of a job that ends", again: .other("[0, 0]")) { desk in
            let batch = try desk.held([("a", 1)])
            _ = try desk.report(batch, 0..<1, entry: Desk.delivered("a", 1))
            for job in ["a", "b"] { try desk.quarantine(job) }
            return Settle([Desk.settlement(try desk.results()[0], "a", delivered: 1)])
        },
        ScriptCase("fails nobody when kills are forgotten", again: nothing) { desk in
            let batch = try desk.held([("a", 3)])
            try desk.set(batch.id, to: "w1|4|2|3,1,1,0,3,2,1,0|2|x..")
            return desk.reclaim(["w1"], .kill(hadSent: true, recent: 1))
        },
        ScriptCase("starts the count again with another single suspect", again: nothing) { desk in
            let batch = try desk.held([("a", 3)])
            try desk.set(batch.id, to: "w1|4|2|3,1,1,0,3,1,1,0|2|x..")
            return desk.reclaim(["w1"], .kill(hadSent: true, recent: 4))
        },
        ScriptCase("acquits what a killed worker held and did not send", again: nothing) { desk in
            let batch = try desk.held([("a", 3)])
            try desk.set(batch.id, to: "w1|3|0|3,1,1,0,2,0,0,0|3|...")
            return desk.reclaim(["w1"], .kill(hadSent: true, recent: 3))
        },
        ScriptCase("counts a crash before any send", again: nothing) { desk in
            let batch = try desk.held([("a", 2), ("b", 2)])
            try desk.set(batch.id, to: "w1|1|0||4|....")
            return desk.reclaim(["w1"], .crash(hadSent: false))
        },
        ScriptCase("parks a batch after five crashes before any send", again: nothing) { desk in
            let batch = try desk.held([("a", 2), ("b", 2)])
            try desk.set(batch.id, to: "w1|5|0|0,0,0,0,0,0,0,4|4|....")
            return desk.reclaim(["w1"], .crash(hadSent: false))
        },
        ScriptCase("quarantines a job that five crashes accuse", again: nothing) { desk in
            let batch = try desk.held([("a", 3)])
            try desk.set(batch.id, to: "w1|2|2|3,2,1,1,0,0,0,0|3|...")
            try desk.redis.run("HSET", "{pushfarm:demo}:job:a", "crashes", "4")
            return desk.reclaim(["w1"], .crash(hadSent: true))
        },
        ScriptCase("gives a careful batch without credit", again: .any) { desk in
            let batch = try desk.held([("a", 9)])
            try desk.set(batch.id, to: "w1|1|9||9|.........")
            try desk.perform(desk.reclaim(["w1"], .crash(hadSent: true)))
            return Checkout(
                worker: "w2", credit: 50, maxBatches: 8, known: [],
                shards: (0..<Desk.shards).map { ($0, desk.token) })
        },
        ScriptCase("gives all of what a worker had that was killed once", again: .any) { desk in
            _ = try desk.held([("a", 9)])
            try desk.perform(desk.reclaim(["w1"], .kill(hadSent: true, recent: 1)))
            return Checkout(
                worker: "w2", credit: 50, maxBatches: 8, known: [],
                shards: (0..<Desk.shards).map { ($0, desk.token) })
        },
        ScriptCase("parks what a quarantined job has on the way", again: .any) { desk in
            try desk.split(step: 1, [("a", 2), ("b", 3)])
            try desk.split(step: 2, [("c", 4)], shard: 2)
            for job in ["a", "c"] { try desk.quarantine(job) }
            return Checkout(
                worker: "w1", credit: 50, maxBatches: 8, known: [],
                shards: (0..<Desk.shards).map { ($0, desk.token) })
        },
        ScriptCase("raises the credit of a careful batch by a group", again: .other("[xx......., 4, 0]")) {
            desk in
            let batch = try desk.held([("a", 9)])
            try desk.set(batch.id, to: "w1|1|2|9,2,1,1,0,0,0,0|9|.........")
            return desk.reportRequest(batch.id, 0..<2, wanted: 9, entry: Desk.delivered("a", 2))
        },
        ScriptCase("raises it no further while a group is in the air", again: .other("[x........, 2, 0]")) {
            desk in
            let batch = try desk.held([("a", 9)])
            try desk.set(batch.id, to: "w1|1|2|9,2,1,1,0,0,0,0|9|.........")
            return desk.reportRequest(batch.id, 0..<1, wanted: 9, entry: Desk.delivered("a", 1))
        },
        ScriptCase("parks what is left of a quarantined job", again: .other("[ppxx, 0, 2]")) { desk in
            try desk.split([("a", 2), ("b", 2)])
            try desk.quarantine("a")
            let batch = try desk.checkout().batches[0]
            return desk.reportRequest(batch.id, 2..<4, entry: Desk.delivered("b", 2))
        },
        ScriptCase("takes facts of what was parked", again: .other("[0, 0, 1, 0, 1]")) { desk in
            let batch = try desk.held([("a", 2)])
            try desk.perform(PutBack(token: desk.token, worker: "w1", batches: [(batch.id, 1)]))
            try desk.quarantine("a")
            _ = try desk.checkout("w2")
            return desk.reportRequest(batch.id, 0..<2, entry: Desk.delivered("a", 2))
        },
        ScriptCase("lets parked batches and quarantined jobs go on", again: .other("[0, -1, 0, 0]")) { desk in
            try desk.perform(desk.park(try desk.held([("a", 2)])))
            let second = try desk.held(step: 2, [("b", 2)])
            try desk.perform(desk.park(second))
            try desk.set(second.id, to: "|5|0|2,1,1,2,0,1,1,0|2|..")
            try desk.split(step: 3, [("c", 3)], shard: 2)
            try desk.quarantine("c")
            _ = try desk.checkout()
            return Release()
        },
        ScriptCase("lets one job go on", again: .other("[0, 2, 0, 0]")) { desk in
            for (step, job) in ["a", "b", "c"].enumerated() {
                try desk.split(step: step + 1, [(job, 2)], shard: step)
                try desk.quarantine(job)
            }
            _ = try desk.checkout()
            return Release(.job("b"), limit: 2)
        },
    ]

    /// What an operator repairs.
    static let fsck = [
        ScriptCase("puts a batch that no list has into its list", again: .other("[]")) { desk in
            let batch = try desk.held([("a", 4)])
            _ = try desk.report(batch, 0..<1, entry: Desk.delivered("a", 1))
            try desk.redis.run("DEL", "{pushfarm:demo}:in_flight:01")
            return Repair(.batch("\(batch.id)"), shards: Desk.shards)
        },
        ScriptCase("leaves a batch in one list", again: .other("[]")) { desk in
            let batch = try desk.held([("a", 4)])
            for list in ["in_flight:01", "ready:01", "bulk:02", "paused"] {
                try desk.redis.run("RPUSH", "{pushfarm:demo}:\(list)", "\(batch.id)")
            }
            return Repair(.batch("\(batch.id)"), shards: Desk.shards)
        },
        ScriptCase("counts again what is open", again: .other("[]")) { desk in
            let batch = try desk.held([("a", 4)])
            try desk.set(batch.id, to: "w1|1|9||3|x...")
            return Repair(.batch("\(batch.id)"), shards: Desk.shards)
        },
        ScriptCase("sets aside what nobody can read", again: .other("[]")) { desk in
            let batch = try desk.held([("a", 4)])
            try desk.set(batch.id, to: "nonsense")
            return Repair(.batch("\(batch.id)"), shards: Desk.shards)
        },
        ScriptCase("drops a batch with nothing left", again: .other("[]")) { desk in
            let batch = try desk.held([("a", 2)])
            try desk.set(batch.id, to: "w1|1|2||0|xx")
            return Repair(.batch("\(batch.id)"), shards: Desk.shards)
        },
        ScriptCase("makes accounts tell what is there", again: .other("[]")) { desk in
            for step in 1...4 { try desk.split(step: step, [("j\(step)", 4)]) }
            let jobRecord = "{pushfarm:demo}:job:"
            try desk.redis.run("HSET", jobRecord + "j1", "in_flight", "7", "delayed", "3")
            try desk.redis.run("HSET", jobRecord + "j2", "accepted", "6", "submitted", "6")
            try desk.redis.run("HSET", jobRecord + "j3", "state", "finished", "finished_at", "1")
            try desk.redis.run("DEL", jobRecord + "j4")
            try desk.redis.run("HSET", "{pushfarm:demo}:load", "open", "99")
            try desk.redis.run("XADD", "{pushfarm:demo}:results", "*", "r", "?nonsense")
            return Repair(.jobRecords(nil), shards: Desk.shards)
        },
        ScriptCase("ends an account of which nothing is there", again: .other("[]")) { desk in
            let batch = try desk.held([("a", 3)])
            try desk.redis.run("DEL", "{pushfarm:demo}:in_flight:01")
            for hash in ["states", "batches"] {
                try desk.redis.run("HDEL", "{pushfarm:demo}:\(hash)", "\(batch.id)")
            }
            return Repair(.jobRecords(nil), shards: Desk.shards)
        },
    ]
}
