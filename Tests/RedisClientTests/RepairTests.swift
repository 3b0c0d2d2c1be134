import PushModel
import RedisProtocol
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// Checks that the audit names every kind of damage, and that a repair restores the accounting.
@Suite struct RepairTests {
    let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    private static let app = "{pushfarm:demo}:"

    /// Makes three jobs of one batch each: a queued batch, a batch in flight of which a worker has reported half, and a delayed
    /// batch. Returns their batches.
    private func farm() throws -> [String] {
        try fixture.split(step: 1, [("waits", 4)], shard: 0)
        try fixture.split(step: 2, [("flies", 4)], shard: 1)
        try fixture.split(step: 3, [("later", 4)], shard: 2, due: 4_000_000_000_000)
        let batch = try #require(
            try fixture.perform(
                Checkout(worker: "w1", credit: 100, maxBatches: 1, shards: [(1, fixture.token)])
            ).batches.first)
        _ = try fixture.report(batch, 0..<2, entry: StoreFixture.delivered("flies", 2))
        #expect(try fixture.audit() == [])
        return try [
            ["LINDEX", "ready:00", "0"], ["LINDEX", "in_flight:01", "0"], ["ZRANGE", "delayed", "0", "0"],
        ]
        .map { words in
            let value = try run(words)
            return try #require(value.text ?? value.array?.first?.text)
        }
    }

    @discardableResult
    private func run(_ words: [String]) throws -> RESPValue {
        var command = RESPCommand()
        command.append(words[0])
        command.append(Self.app + words[1])
        for word in words.dropFirst(2) { command.append(word) }
        return try fixture.redis.run(command)
    }

    /// The jobs that are open or have wrong counts, from all pages of job records.
    private func unsettled() throws -> [String] {
        var jobs: [String] = []
        var cursor: String? = "0"
        while let start = cursor {
            let reply = try fixture.perform(ScanJobRecords(shards: StoreFixture.shards, cursor: start))
            jobs += reply.items
            cursor = reply.next
        }
        return jobs
    }

    /// Repairs like `pushfarm fsck --repair`.
    @discardableResult
    private func repair() throws -> [String] {
        var done: [String] = []
        for _ in 0..<5 {
            let faults = try fixture.audit()
            // `fsck` reads job records in pages. With the jobs from these pages, the check must find the same faults as with
            // all job records.
            let unsettled = try unsettled()
            #expect(
                try Set(fixture.perform(CheckAccounting(shards: StoreFixture.shards, jobs: unsettled)))
                    == Set(faults))
            if faults.isEmpty { break }
            for fault in faults where fault.hasPrefix("batch ") {
                done += try fixture.perform(
                    Repair(.batch(String(fault.split(separator: " ")[1])), shards: StoreFixture.shards))
            }
            done += try fixture.perform(Repair(.jobRecords(unsettled), shards: StoreFixture.shards))
        }
        return done
    }

    /// Kinds of damage. In the commands, W, F and L stand for the ids of the batches of the jobs `waits`, `flies` and
    /// `later`.
    /// `lost` has the numbers of pushes that these jobs lose, in the same order.
    static let damages: [(name: String, commands: [[String]], lost: [Int])] = [
        ("a waiting batch in no list", [["LREM", "ready:00", "0", "W"]], [0, 0, 0]),
        ("a batch in flight in no list", [["LREM", "in_flight:01", "0", "F"]], [0, 0, 0]),
        ("a delayed batch in no list", [["ZREM", "delayed", "L"]], [0, 0, 0]),
        ("a batch in two lists", [["RPUSH", "ready:01", "F"]], [0, 0, 0]),
        ("a batch twice in a list", [["RPUSH", "ready:00", "W"]], [0, 0, 0]),
        ("a delayed batch that is ready", [["RPUSH", "ready:02", "L"]], [0, 0, 0]),
        (
            "a batch in another shard's list",
            [["LREM", "ready:00", "0", "W"], ["RPUSH", "ready:03", "W"]], [0, 0, 0]
        ),
        (
            "a batch in the other lane's list",
            [["LREM", "ready:00", "0", "W"], ["RPUSH", "bulk:00", "W"]], [0, 0, 0]
        ),
        (
            "an id without a batch",
            [["RPUSH", "ready:03", "03.h.nothing.1"], ["ZADD", "delayed", "1", "02.h.no"]], [0, 0, 0]
        ),
        ("a batch without a body", [["HDEL", "batches", "W"]], [4, 0, 0]),
        ("a batch without a state", [["HDEL", "states", "W"]], [4, 0, 0]),
        ("a body of an unknown batch", [["HSET", "batches", "00.h.x.1", "?"]], [0, 0, 0]),
        (
            "a batch that is missing completely",
            [["HDEL", "states", "W"], ["HDEL", "batches", "W"], ["LREM", "ready:00", "0", "W"]], [4, 0, 0]
        ),
        ("a body that cannot be read", [["HSET", "batches", "W", "nonsense"]], [4, 0, 0]),
        ("a state that cannot be read", [["HSET", "states", "F", "nonsense"]], [0, 2, 0]),
        ("a map of another length", [["HSET", "states", "W", "|0|0||3|..."]], [4, 0, 0]),
        ("a false count", [["HSET", "states", "W", "|0|0||3|...."]], [0, 0, 0]),
        ("a batch without open pushes", [["HSET", "states", "W", "|0|0||0|xxxx"]], [4, 0, 0]),
        ("a batch of an unknown worker", [["HSET", "states", "W", "ghost|1|3||4|...."]], [0, 0, 0]),
        ("a batch in flight without a worker", [["HSET", "states", "F", "|1|4||2|xx.."]], [0, 0, 0]),
        ("too large a credit", [["HSET", "states", "F", "w1|1|99||2|xx.."]], [0, 0, 0]),
        ("an entry that cannot be read", [["XADD", "results", "*", "r", "?nonsense"]], [0, 0, 0]),
        (
            "an entry of closed pushes that cannot be read",
            [["XADD", "results", "*", "k", "U", "b", "?nonsense", "p", "1-2"]], [0, 0, 0]
        ),
        ("a job record that lost numbers", [["HDEL", "job:flies", "in_flight"]], [0, 0, 0]),
        ("a job record with too many delayed pushes", [["HSET", "job:waits", "delayed", "9"]], [0, 0, 0]),
        (
            "a job record that accepted more",
            [["HINCRBY", "job:waits", "accepted", "3"], ["HINCRBY", "job:waits", "submitted", "3"]],
            [3, 0, 0]
        ),
        (
            "a job record that accepted less",
            [["HINCRBY", "job:waits", "accepted", "-3"], ["HINCRBY", "job:waits", "submitted", "-3"]],
            [0, 0, 0]
        ),
        (
            "a job record that is finished too early",
            [["HSET", "job:waits", "state", "finished", "finished_at", "1"]], [0, 0, 0]
        ),
        ("no job record", [["DEL", "job:waits"]], [0, 0, 0]),
        ("a false load", [["HSET", "load", "open", "77"]], [0, 0, 0]),
        ("a load that is not a number", [["HSET", "load", "open", "many"]], [0, 0, 0]),
        ("a job record with an invalid number", [["HSET", "job:flies", "delivered", "x"]], [0, 0, 0]),
        (
            "a job record whose number of pushes is invalid", [["HSET", "job:waits", "accepted", "four"]],
            [0, 0, 0]
        ),
        ("a job record with an invalid reason count", [["HSET", "job:waits", "reason:x", "-"]], [0, 0, 0]),
        ("a job record that is a list", [["DEL", "job:later"], ["RPUSH", "job:later", "x"]], [0, 0, 0]),
        (
            "an entry of another version",
            [["XADD", "results", "*", "r", "\u{2}D\u{5}flies\0\u{1}\0"]], [0, 0, 0]
        ),
        (
            "an entry with invalid closed positions", [["XADD", "results", "*", "p", "a-b", "b", "x"]],
            [0, 0, 0]
        ),
        ("an entry of other fields", [["XADD", "results", "*", "foo", "bar"]], [0, 0, 0]),
    ]

    @Test(arguments: damages.indices)
    func `damage is named and repaired and the accounting is correct`(index: Int) throws {
        let damage = Self.damages[index]
        let batches = try farm()
        for command in damage.commands {
            try run(
                command.map { word in
                    ["W": batches[0], "F": batches[1], "L": batches[2]][word] ?? word
                })
        }
        #expect(try fixture.audit() != [], "\(damage.name)")
        #expect(try !repair().isEmpty)
        #expect(try fixture.audit() == [], "\(damage.name)")
        #expect(try repair().isEmpty)
        for (job, lost) in zip(["waits", "flies", "later"], damage.lost) {
            let jobRecord = try fixture.jobRecord(job)
            #expect(jobRecord.reasons == (lost > 0 ? ["lost": lost] : [:]), "\(damage.name): \(job)")
            #expect(jobRecord.failed == lost)
        }
        try deliverTheRest()
    }

    /// Delivers each remaining push once, and then checks that every job record is finished.
    private func deliverTheRest() throws {
        _ = try fixture.perform(
            Reclaim(.gone(["w1"]), shards: (0..<StoreFixture.shards).map { ($0, fixture.token) }))
        try fixture.makeDue()
        _ = try fixture.perform(PromoteDue(limit: 100))
        var sent: [String: Int] = [:]
        while true {
            let batches = try fixture.checkout("w2", credit: 1000).batches
            if batches.isEmpty { break }
            for batch in batches {
                let job = try Batch(decoding: batch.body).jobID(of: 0)
                let open = batch.map.indices.filter { batch.map[$0] == UInt8(ascii: ".") }
                var runs = PositionRuns()
                for position in open { runs.append(position) }
                sent[job, default: 0] += open.count
                _ = try fixture.perform(
                    Report(
                        token: fixture.token, worker: "w2", batch: batch.id, delivery: batch.delivery,
                        wanted: 0,
                        hasOnlyFacts: true, runs: runs, entry: StoreFixture.delivered(job, open.count)))
                #expect(try fixture.audit() == [])
            }
        }
        for record in try fixture.results() {
            guard case .report(let bytes) = record.content else { continue }
            let entry = try WorkerReport(decoding: bytes)
            let item = try #require(entry.items.first)
            try fixture.perform(
                Settle([StoreFixture.settlement(record, entry.jobID(of: item), delivered: item.count)]))
        }
        #expect(try fixture.audit() == [])
        for job in ["waits", "flies", "later"] {
            let jobRecord = try fixture.jobRecord(job)
            #expect(jobRecord.state == .finished && jobRecord.queued == 0)
        }
    }

    @Test func `an unreadable batch is quarantined as a whole`() throws {
        let batches = try farm()
        try run(["HSET", "batches", batches[0], "nonsense"])
        try run(["XADD", "results", "*", "k", "U", "b", "?nonsense", "p", "1-2"])
        try repair()
        let kept = try run(["HVALS", "unreadable"]).array?.compactMap(\.text)
        #expect(Set(kept ?? []) == ["nonsense", "k U b ?nonsense p 1-2"])
    }

    @Test func `an entry that cannot be settled is named until its pushes are closed as failed`() throws {
        _ = try farm()
        let record = try #require(try fixture.results().first)
        #expect(try fixture.perform(NoteUnsettleable(record.id, at: 7, reason: "ERR why not")))
        #expect(try !fixture.perform(NoteUnsettleable(record.id, at: 8, reason: "other")))
        let faults = try fixture.perform(FindDamage(shards: StoreFixture.shards))
        #expect(faults.unsettled == 1 && faults.entry == "\(record.id)" && faults.why == "ERR why not")
        #expect(try fixture.audit().contains("results entry \(record.id) cannot be settled: ERR why not"))
        try repair()
        #expect(try fixture.audit() == [])
        #expect(try fixture.jobRecord("flies").reasons == ["lost": 2])
        let after = try fixture.perform(FindDamage(shards: StoreFixture.shards))
        #expect(after.unsettled == 0 && after.unreadable == 1 && after.name == "\(record.id)")
        try fixture.perform(DropUnreadable())
        #expect(try fixture.perform(FindDamage(shards: StoreFixture.shards)) == FindDamage.Reply())
    }

    @Test func `an entry with unregistered tokens is counted unchanged`() throws {
        _ = try farm()
        let batch = try #require(try fixture.checkout("w1", known: []).batches.first { $0.id.shard == 1 })
        var builder = ResultsBuilder()
        Array("flies".utf8).withUnsafeBytes {
            builder.beginFailed(
                jobID: $0, reason: "Unregistered", cause: "x", status: 410, isInvalidToken: true,
                scope: "production com.example.demo", receipts: .failures)
        }
        for token in StoreFixture.tokens(2) {
            token.withUnsafeBytes { builder.append(token: $0, timestamp: 7) }
        }
        let finished = builder.finish()
        _ = try fixture.report(batch, 2..<4, entry: try #require(finished))
        #expect(try fixture.audit() == [])
    }

    @Test func `all keys of a wrong type are named`() throws {
        let names = [
            "taken", "paused", "unproven", "unconfirmed", "owners", "intake", "paused_jobs", "paused_tokens",
            "cancels", "paused_shards",
            "batches", "states", "dead_letter_counts", "suppression", "scopes", "guard", "feedback", "load",
            "admission",
            "refusals",
            "unsettled", "unreadable", "delayed", "jobs", "results", "events", "refused", "dead_letters",
            "audit",
            "ready:01", "bulk:00", "in_flight:03", "suppressed:02",
        ]
        #expect(try fixture.perform(FindDamage(shards: StoreFixture.shards)) == FindDamage.Reply())
        for name in names {
            let before = try run(["DUMP", name]).bytes
            try run(["SET", name, "x"])
            let found = try fixture.perform(FindDamage(shards: StoreFixture.shards)).wrongTypes
            #expect(found.map(\.key) == ["{pushfarm:demo}:" + name] && found.first?.found == "string")
            // A Redis user who may not run scripts gets the same result.
            let plain = try fixture.redis.performPlainly(
                FindDamage(shards: StoreFixture.shards), fixture.keys)
            #expect(plain.wrongTypes == found)
            try run(["DEL", name])
            if let before {
                var command = RESPCommand("RESTORE", Self.app + name, "0")
                command.append(before)
                try fixture.redis.run(command)
            }
        }
        try fixture.redis.run("SET", "pushfarm:demo", "x")
        let inbox = try fixture.perform(FindDamage(shards: StoreFixture.shards)).wrongTypes
        #expect(inbox == [.init(key: "pushfarm:demo", found: "string", expected: "list")])
    }

    @Test func `a repair does not change a correct farm`() throws {
        let batches = try farm()
        for id in batches {
            #expect(try fixture.perform(Repair(.batch(id), shards: StoreFixture.shards)).isEmpty)
        }
        #expect(try fixture.perform(Repair(.jobRecords(nil), shards: StoreFixture.shards)).isEmpty)
        #expect(try fixture.audit() == [])
    }

    @Test func `the audits of all shards add up to the whole`() throws {
        let batches = try farm()
        var jobs: [String: CheckAccountingPart.Sums] = [:]
        var seen: [String] = []
        for shard in [0, 1, 2, 3, nil] {
            let part = try fixture.perform(CheckAccountingPart(shards: StoreFixture.shards, shard: shard))
            #expect(part.faults.isEmpty)
            for (job, sums) in part.jobs { jobs[job, default: .init()] += sums }
            seen += part.batches
        }
        #expect(Set(seen) == Set(batches))
        #expect(try Set(fixture.perform(ScanBatches()).items) == Set(batches))
        #expect(jobs["waits"]?.open == 4 && jobs["flies"]?.open == 4 && jobs["later"]?.open == 4)
        #expect(jobs["flies"]?.inFlight == 4 && jobs["later"]?.delayed == 4)
        #expect(try unsettled().sorted() == ["flies", "later", "waits"])
    }

    /// A farm may keep a million finished job records. One command that reads all of them would block Redis for too long.
    @Test func `finished job records are read in pages and not again with the queues`() throws {
        let batches = try farm()
        for number in 0..<2_000 {
            try run(["HSET", "job:old \(number)", "state", "finished", "accepted", "3", "delivered", "3"])
            try run(["ZADD", "jobs", "\(number)", "old \(number)"])
        }
        try run(["HSET", "job:old 7", "delivered", "2"])
        try run(["HSET", "job:old 8", "in_flight", "1"])
        try run(["HSET", "job:old 9", "reason:lost", "1"])
        let wrong = ["old 7", "old 8", "old 9"]
        var cursor: String? = "0"
        var (found, pages) = ([String](), 0)
        while let start = cursor {
            let before = try accountsRead()
            let reply = try fixture.perform(ScanJobRecords(shards: StoreFixture.shards, cursor: start))
            #expect(try accountsRead() - before < 500)
            found += reply.items
            cursor = reply.next
            pages += 1
        }
        #expect(pages > 4 && Set(found) == Set(wrong + ["flies", "later", "waits"]))
        let before = try accountsRead()
        let faults = try fixture.perform(CheckAccounting(shards: StoreFixture.shards, jobs: wrong))
        #expect(try accountsRead() - before < 20)
        let all = try fixture.audit()
        #expect(faults.count == 4 && Set(faults) == Set(all), "\(faults)")
        // The audit checks open jobs even if the request does not name them.
        try run(["LREM", "ready:00", "0", batches[0]])
        try run(["HSET", "job:later", "delayed", "3"])
        #expect(
            try fixture.perform(CheckAccounting(shards: StoreFixture.shards, jobs: [])).contains(
                "job later delayed 3 of 4"))
        let asked = try accountsRead()
        _ = try fixture.perform(CheckAccounting(shards: StoreFixture.shards, jobs: ["waits"]))
        _ = try fixture.perform(Repair(.jobRecords(["old 7", "waits"]), shards: StoreFixture.shards))
        #expect(try accountsRead() - asked < 20)
        #expect(try fixture.jobRecord("old 7").failed == 1 && fixture.jobRecord("old 8").inFlight == 1)
    }

    /// The number of job records that clients have read: the number of calls of HGETALL.
    private func accountsRead() throws -> Int {
        let text = try fixture.redis.run("INFO", "commandstats").text ?? ""
        let line = text.split(separator: "\r\n").first { $0.hasPrefix("cmdstat_hgetall:calls=") }
        return line.flatMap { Int($0.dropFirst(22).prefix { $0 != "," }) } ?? 0
    }
}
