import PushModel

@testable import RedisClient
@testable import StoreProtocol

extension ScriptCase {
    private static let nothing = Reply.other("[0, 0, 0, 0, 0, [], [], []]")

    /// Cases of workers that crash at a push, and what the scripts do with the push.
    static let poison = [
        ScriptCase("lists the shards of a worker with pushes in flight", again: .same) { fixture in
            for shard in 0..<3 { try fixture.split(step: shard + 1, [("j\(shard)", 3)], shard: shard) }
            let batches = try fixture.checkout(credit: 8).batches
            _ = try fixture.report(batches[0], 0..<3, entry: StoreFixture.delivered("j0", 3))
            _ = try fixture.report(batches[1], 0..<1, entry: StoreFixture.delivered("j1", 1))
            return ReadInFlightShards(worker: "w1", shards: Array(0..<StoreFixture.shards))
        },
        ScriptCase("sends the suspects of a crash in groups, with nothing else in flight", again: nothing) {
            fixture in
            try fixture.split([("a", 10), ("b", 6)])
            let batch = try fixture.checkout(credit: 12).batches[0]
            _ = try fixture.report(batch, 0..<1, entry: StoreFixture.delivered("a", 1))
            return fixture.reclaim(["w1"], .crash(hadSent: true))
        },
        ScriptCase("sends the suspects of a second crash one by one", again: nothing) { fixture in
            let batch = try fixture.held([("a", 10)])
            try fixture.set(batch.id, to: "w1|2|7|10,4,1,1,0,0,0,0|9|x.........")
            return fixture.reclaim(["w1"], .crash(hadSent: true))
        },
        ScriptCase("fails the single suspect of a third crash", again: nothing) { fixture in
            let batch = try fixture.held([("a", 4)])
            try fixture.set(batch.id, to: "w1|3|2|4,1,1,2,0,2,1,0|3|x...")
            return fixture.reclaim(["w1"], .crash(hadSent: true))
        },
        ScriptCase("fails the only push of a batch", again: nothing) { fixture in
            let batch = try fixture.held([("a", 1)])
            try fixture.set(batch.id, to: "w1|3|1|1,1,1,2,0,1,2,0|1|.")
            return fixture.reclaim(["w1"], .crash(hadSent: true))
        },
        ScriptCase("starts again after the suspects were sent without a crash", again: nothing) { fixture in
            let batch = try fixture.held([("a", 5)])
            try fixture.set(batch.id, to: "w1|3|5|2,1,1,2,0,2,1,0|2|xxx..")
            return fixture.reclaim(["w1"], .crash(hadSent: true))
        },
        ScriptCase("counts a first kill and changes nothing else", again: nothing) { fixture in
            _ = try fixture.held([("a", 9)])
            return fixture.reclaim(["w1"], .kill(hadSent: true, recent: 1))
        },
        ScriptCase("counts a second kill in a row against the batch", again: nothing) { fixture in
            let batch = try fixture.held([("a", 9)])
            try fixture.set(batch.id, to: "w1|2|6|9,0,0,0,1,0,0,0|9|.........")
            return fixture.reclaim(["w1"], .kill(hadSent: true, recent: 2))
        },
        ScriptCase("makes groups of many suspects of two kills", again: nothing) { fixture in
            let batch = try fixture.held([("a", 65)])
            try fixture.set(batch.id, to: "w1|2|65|65,0,0,0,1,0,0,0|65|" + String(repeating: ".", count: 65))
            return fixture.reclaim(["w1"], .kill(hadSent: true, recent: 2))
        },
        ScriptCase("counts no kill among unrelated kills", again: nothing) { fixture in
            let batch = try fixture.held([("a", 9)])
            try fixture.set(batch.id, to: "w1|2|6|9,0,0,0,1,0,0,0|9|.........")
            return fixture.reclaim(["w1"], .kill(hadSent: true, recent: 5))
        },
        ScriptCase("fails the single suspect of a fourth kill", again: nothing) { fixture in
            let batch = try fixture.held([("a", 3)])
            try fixture.set(batch.id, to: "w1|4|2|3,1,1,0,3,2,1,0|2|x..")
            return fixture.reclaim(["w1"], .kill(hadSent: true, recent: 4))
        },
        ScriptCase("fails no push at a second crash", again: nothing) { fixture in
            let batch = try fixture.held([("a", 1)])
            try fixture.set(batch.id, to: "w1|2|1|1,1,1,1,0,1,1,0|1|.")
            return fixture.reclaim(["w1"], .crash(hadSent: true))
        },
        ScriptCase("counts a crash against a job whose at-most-once push was lost", again: nothing) {
            fixture in
            try fixture.split([("a", 9)], delivery: .atMostOnce)
            _ = try fixture.checkout(credit: 6)
            return fixture.reclaim(["w1"], .crash(hadSent: true))
        },
        ScriptCase("counts no crash when the lost pushes belong to two jobs", again: nothing) { fixture in
            try fixture.split([("a", 2), ("b", 2)], delivery: .atMostOnce)
            _ = try fixture.checkout(credit: 3)
            return fixture.reclaim(["w1"], .crash(hadSent: true))
        },
        ScriptCase("quarantines unreadable batches and reclaims the rest", again: nothing) { fixture in
            for step in 1...3 { try fixture.split(step: step, [("j\(step)", 2)]) }
            let batches = try fixture.checkout().batches
            try fixture.redis.run("HSET", "{pushfarm:demo}:batches", "\(batches[1].id)", "?")
            return fixture.reclaim(["w1"], .crash(hadSent: true))
        },
        ScriptCase("quarantines unreadable batches and assigns the rest", again: .any) { fixture in
            for step in 1...3 { try fixture.split(step: step, [("j\(step)", 2)]) }
            let second = try fixture.redis.run("LINDEX", "{pushfarm:demo}:ready:01", "1").text ?? ""
            try fixture.redis.run("HSET", "{pushfarm:demo}:batches", second, "?")
            return Checkout(
                worker: "w1", credit: 50, maxBatches: 8, known: [],
                shards: (0..<StoreFixture.shards).map { ($0, fixture.token) })
        },
        ScriptCase("leaves unreadable batches quarantined", again: .other("[0, -1, 0, 0]")) { fixture in
            for step in 1...2 {
                try fixture.perform(fixture.quarantine(try fixture.held(step: step, [("j\(step)", 2)])))
            }
            let first = try fixture.redis.run("LINDEX", "{pushfarm:demo}:paused", "0").text ?? ""
            try fixture.redis.run("HSET", "{pushfarm:demo}:batches", first, "?")
            return ResumePaused(.job("j2"))
        },
        ScriptCase("ends the quarantine of a finished job", again: .other("[0, 0]")) { fixture in
            let batch = try fixture.held([("a", 1)])
            _ = try fixture.report(batch, 0..<1, entry: StoreFixture.delivered("a", 1))
            for job in ["a", "b"] { try fixture.quarantine(job) }
            return Settle([StoreFixture.settlement(try fixture.results()[0], "a", delivered: 1)])
        },
        ScriptCase("fails no push after the count of kills was lost", again: nothing) { fixture in
            let batch = try fixture.held([("a", 3)])
            try fixture.set(batch.id, to: "w1|4|2|3,1,1,0,3,2,1,0|2|x..")
            return fixture.reclaim(["w1"], .kill(hadSent: true, recent: 1))
        },
        ScriptCase("restarts the count for another single suspect", again: nothing) { fixture in
            let batch = try fixture.held([("a", 3)])
            try fixture.set(batch.id, to: "w1|4|2|3,1,1,0,3,1,1,0|2|x..")
            return fixture.reclaim(["w1"], .kill(hadSent: true, recent: 4))
        },
        ScriptCase(
            "clears the suspicion of pushes that a killed worker held and did not send", again: nothing
        ) { fixture in
            let batch = try fixture.held([("a", 3)])
            try fixture.set(batch.id, to: "w1|3|0|3,1,1,0,2,0,0,0|3|...")
            return fixture.reclaim(["w1"], .kill(hadSent: true, recent: 3))
        },
        ScriptCase("counts a crash before any send", again: nothing) { fixture in
            let batch = try fixture.held([("a", 2), ("b", 2)])
            try fixture.set(batch.id, to: "w1|1|0||4|....")
            return fixture.reclaim(["w1"], .crash(hadSent: false))
        },
        ScriptCase("quarantines a batch after five crashes before any send", again: nothing) { fixture in
            let batch = try fixture.held([("a", 2), ("b", 2)])
            try fixture.set(batch.id, to: "w1|5|0|0,0,0,0,0,0,0,4|4|....")
            return fixture.reclaim(["w1"], .crash(hadSent: false))
        },
        ScriptCase("quarantines a job after five crashes that count against it", again: nothing) { fixture in
            let batch = try fixture.held([("a", 3)])
            try fixture.set(batch.id, to: "w1|2|2|3,2,1,1,0,0,0,0|3|...")
            try fixture.redis.run("HSET", "{pushfarm:demo}:job:a", "crashes", "4")
            return fixture.reclaim(["w1"], .crash(hadSent: true))
        },
        ScriptCase("assigns a suspect batch without credit", again: .any) { fixture in
            let batch = try fixture.held([("a", 9)])
            try fixture.set(batch.id, to: "w1|1|9||9|.........")
            try fixture.perform(fixture.reclaim(["w1"], .crash(hadSent: true)))
            return Checkout(
                worker: "w2", credit: 50, maxBatches: 8, known: [],
                shards: (0..<StoreFixture.shards).map { ($0, fixture.token) })
        },
        ScriptCase("assigns all pushes of a batch whose worker was killed once", again: .any) { fixture in
            _ = try fixture.held([("a", 9)])
            try fixture.perform(fixture.reclaim(["w1"], .kill(hadSent: true, recent: 1)))
            return Checkout(
                worker: "w2", credit: 50, maxBatches: 8, known: [],
                shards: (0..<StoreFixture.shards).map { ($0, fixture.token) })
        },
        ScriptCase("quarantines a batch with pushes of a quarantined job", again: .any) { fixture in
            try fixture.split(step: 1, [("a", 2), ("b", 3)])
            try fixture.split(step: 2, [("c", 4)], shard: 2)
            for job in ["a", "c"] { try fixture.quarantine(job) }
            return Checkout(
                worker: "w1", credit: 50, maxBatches: 8, known: [],
                shards: (0..<StoreFixture.shards).map { ($0, fixture.token) })
        },
        ScriptCase("raises the credit of a suspect batch by one group", again: .other("[xx......., 4, 0]")) {
            fixture in
            let batch = try fixture.held([("a", 9)])
            try fixture.set(batch.id, to: "w1|1|2|9,2,1,1,0,0,0,0|9|.........")
            return fixture.reportRequest(batch.id, 0..<2, wanted: 9, entry: StoreFixture.delivered("a", 2))
        },
        ScriptCase("raises no credit while a group is in flight", again: .other("[x........, 2, 0]")) {
            fixture in
            let batch = try fixture.held([("a", 9)])
            try fixture.set(batch.id, to: "w1|1|2|9,2,1,1,0,0,0,0|9|.........")
            return fixture.reportRequest(batch.id, 0..<1, wanted: 9, entry: StoreFixture.delivered("a", 1))
        },
        ScriptCase("quarantines the remaining pushes of a quarantined job", again: .other("[ppxx, 0, 2]")) {
            fixture in
            try fixture.split([("a", 2), ("b", 2)])
            try fixture.quarantine("a")
            let batch = try fixture.checkout().batches[0]
            return fixture.reportRequest(batch.id, 2..<4, entry: StoreFixture.delivered("b", 2))
        },
        ScriptCase("takes facts about a batch of a quarantined job", again: .other("[0, 0, 1, 0, 1]")) {
            fixture in
            let batch = try fixture.held([("a", 2)])
            try fixture.perform(PutBack(token: fixture.token, worker: "w1", batches: [(batch.id, 1)]))
            try fixture.quarantine("a")
            _ = try fixture.checkout("w2")
            return fixture.reportRequest(batch.id, 0..<2, entry: StoreFixture.delivered("a", 2))
        },
        ScriptCase("releases quarantined batches and jobs", again: .other("[0, -1, 0, 0]")) {
            fixture in
            try fixture.perform(fixture.quarantine(try fixture.held([("a", 2)])))
            let second = try fixture.held(step: 2, [("b", 2)])
            try fixture.perform(fixture.quarantine(second))
            try fixture.set(second.id, to: "|5|0|2,1,1,2,0,1,1,0|2|..")
            try fixture.split(step: 3, [("c", 3)], shard: 2)
            try fixture.quarantine("c")
            _ = try fixture.checkout()
            return ResumePaused()
        },
        ScriptCase("releases one job", again: .other("[0, 2, 0, 0]")) { fixture in
            for (step, job) in ["a", "b", "c"].enumerated() {
                try fixture.split(step: step + 1, [(job, 2)], shard: step)
                try fixture.quarantine(job)
            }
            _ = try fixture.checkout()
            return ResumePaused(.job("b"), limit: 2)
        },
    ]

    /// Cases of repairs that an operator starts.
    static let fsck = [
        ScriptCase("puts a batch that is in no list into its list", again: .other("[]")) { fixture in
            let batch = try fixture.held([("a", 4)])
            _ = try fixture.report(batch, 0..<1, entry: StoreFixture.delivered("a", 1))
            try fixture.redis.run("DEL", "{pushfarm:demo}:in_flight:01")
            return Repair(.batch("\(batch.id)"), shards: StoreFixture.shards)
        },
        ScriptCase("leaves a batch in only one list", again: .other("[]")) { fixture in
            let batch = try fixture.held([("a", 4)])
            for list in ["in_flight:01", "ready:01", "bulk:02", "paused"] {
                try fixture.redis.run("RPUSH", "{pushfarm:demo}:\(list)", "\(batch.id)")
            }
            return Repair(.batch("\(batch.id)"), shards: StoreFixture.shards)
        },
        ScriptCase("corrects the count of open pushes", again: .other("[]")) { fixture in
            let batch = try fixture.held([("a", 4)])
            try fixture.set(batch.id, to: "w1|1|9||3|x...")
            return Repair(.batch("\(batch.id)"), shards: StoreFixture.shards)
        },
        ScriptCase("quarantines unreadable entries", again: .other("[]")) { fixture in
            let batch = try fixture.held([("a", 4)])
            try fixture.set(batch.id, to: "nonsense")
            return Repair(.batch("\(batch.id)"), shards: StoreFixture.shards)
        },
        ScriptCase("drops a batch without open pushes", again: .other("[]")) { fixture in
            let batch = try fixture.held([("a", 2)])
            try fixture.set(batch.id, to: "w1|1|2||0|xx")
            return Repair(.batch("\(batch.id)"), shards: StoreFixture.shards)
        },
        ScriptCase("corrects the counts of job records", again: .other("[]")) { fixture in
            for step in 1...4 { try fixture.split(step: step, [("j\(step)", 4)]) }
            let jobRecord = "{pushfarm:demo}:job:"
            try fixture.redis.run("HSET", jobRecord + "j1", "in_flight", "7", "delayed", "3")
            try fixture.redis.run("HSET", jobRecord + "j2", "accepted", "6", "submitted", "6")
            try fixture.redis.run("HSET", jobRecord + "j3", "state", "finished", "finished_at", "1")
            try fixture.redis.run("DEL", jobRecord + "j4")
            try fixture.redis.run("HSET", "{pushfarm:demo}:load", "open", "99")
            try fixture.redis.run("XADD", "{pushfarm:demo}:results", "*", "r", "?nonsense")
            return Repair(.jobRecords(nil), shards: StoreFixture.shards)
        },
        ScriptCase("finishes a job record without any pushes left", again: .other("[]")) { fixture in
            let batch = try fixture.held([("a", 3)])
            try fixture.redis.run("DEL", "{pushfarm:demo}:in_flight:01")
            for hash in ["states", "batches"] {
                try fixture.redis.run("HDEL", "{pushfarm:demo}:\(hash)", "\(batch.id)")
            }
            return Repair(.jobRecords(nil), shards: StoreFixture.shards)
        },
    ]
}
