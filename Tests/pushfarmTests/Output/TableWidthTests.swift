import Testing

@testable import RedisClient
@testable import StoreProtocol
@testable import pushfarm

/// Prints every table in a terminal of 80 columns, with wide values as in a large farm.
struct TableWidthTests {
    private static let (now, app, job) = (
        Int64(1_800_000_000_000), "checkout-eu", "autumn-sale-2026-11-26-part-7"
    )
    private static let style = TextStyle(columns: 80)
    private static let token = String(repeating: "00fc13ad", count: 8)

    private static var jobRecord: JobRecord {
        var jobRecord = JobRecord(id: job, app: app, state: .open)
        (jobRecord.submitted, jobRecord.accepted, jobRecord.delivered) = (98_765_432, 98_765_432, 12_345_678)
        (jobRecord.failed, jobRecord.expired, jobRecord.inFlight, jobRecord.delayed) = (
            123_456, 99_999, 65_536, 4_000
        )
        jobRecord.reasons = ["DeviceTokenNotForTopic": 123_456]
        jobRecord.createdAt = now - 5_999_000
        return jobRecord
    }

    private static var item: ReadPauses.Item {
        .init(
            name: Array(job.utf8), since: now - 86_400_000, kind: "pause", by: "annabelle@ops-bastion-1",
            reason: "the text of this campaign names the wrong day and must not go out")
    }

    private static var status: FarmStatus {
        let json = """
            {"host":"alpha-1.example","pid":4194304,"state":"running","capacity":16,"auto":true,"since":1799000000000,"workers":[{"worker":"11","pid":4194303,"state":"backing-off","shards":1024,"connections":120,"streams":98765,"rate":98765,"slowed_to":12345,"restarts":123,"rss":987600000,"failed":987654,"since":1799995000000}]}
            """
        var app = AppStatus(
            app: Self.app, pause: nil, full: nil,
            depths: ReadDepths.Reply(
                inbox: 98_765, taken: 1, delayed: 98_765, results: 0, paused: 3, open: 987_654_321,
                shards: [.init(high: 98_765, bulk: 98_765, flight: 12)]),
            openJobs: 9_876,
            owners: [
                .init(host: "alpha-1.example", shards: 1024, hasIntake: true, leaseRemaining: .seconds(5))
            ],
            unowned: 1)
        app.ages = ReadAges.Reply(high: .seconds(5_999), bulk: nil)
        app.dead = 987_654
        var status = FarmStatus(
            hosts: [HostStatus(name: "alpha-1.example", json: Array(json.utf8), isAlive: true)], apps: [app],
            redis: RedisInfo("redis_version:7.0.15\r\nused_memory:512000000\r\n"))
        status.at = now
        status.latest = [
            AlertEntry([
                "type": "alert.cleared", "at": "1799999000000", "alert": "backlog_age", "app": Self.app,
                "text":
                    "\(Self.app): the oldest push of the lane bulk has waited 99 min, and it is not paused",
            ])
        ]
        return status
    }

    private static var tables: [String: String] {
        var backlog = Backlog(app: app)
        for lane in backlog.lanes.keys {
            backlog.lanes[lane] = .init(
                queued: 98_765_432, inFlight: 98_765, delayed: 98_765, paused: 98_765, oldest: now - 5_999_000
            )
        }
        (backlog.rate, backlog.unsettled) = (98_765, 0)
        let job = RunningJobs.Job(jobRecord: jobRecord, rate: 98_765, isPaused: false)
        let letter = DeadLetter(
            id: EntryID(Array("1799900000123-0".utf8)), job: Self.job, reason: "DeviceTokenNotForTopic",
            status: 400, pushes: 12_345, body: [])
        var sums = DeadLetterSummary(now: now)
        sums.add(letter, app: app)
        let letters = DeadLetterList(now: now, lines: [(app, letter)])
        let refused = RefusedEntry(
            id: EntryID(Array("1799900000123-0".utf8)), subject: Self.job, field: "collapse_id",
            position: 123,
            reason: "expected at most 64 bytes, found a text of 123 bytes that begins with checkout",
            original: [])
        let finding = PushFinding(
            app: app, location: .deadLetter, job: Self.job, token: token,
            id: "5f0c1a0e-1b1d-8c2a-9f3b-0123456789ab", at: now,
            details: [("batch", "03.h.1a2b3c4d5e6f.17"), ("attempts", "8"), ("cause", "ServiceUnavailable")])
        let owners = ShardOwners(
            app: app, hosts: (0..<64).map { $0 % 2 == 0 ? "alpha-1.example" : nil }, intake: nil, pins: [:])
        let outcome = OperatorClient.Outcome(
            command: .init(id: "1", issuer: "a@b", host: nil, verb: "scale"),
            replies: [
                .init(
                    host: "alpha-1.example", state: .refused,
                    text: "this host runs at most 16 workers, and 32 of them were asked for: nothing changed")
            ], silent: ["beta-2.example"])
        return [
            "status": StatusText(status: status, style: style).text,
            "jobs": JobsCommand.text([jobRecord], at: now, style),
            "jobs --running": JobsCommand.text(running: [job], stuck: false, at: now, style),
            "backlog": BacklogCommand.text([backlog], at: now, style),
            "paused": PausedCommand.text(
                [.init(app: app, what: "token", name: token, item: item)], at: now, style),
            "dead list": sums.text(style), "dead list --letters": letters.text(style),
            "refused list": RefusedListCommand.text([(app, refused)], at: now, style),
            "find": FindCommand.text([finding], style), "shards": owners.text(style),
            "scale": outcome.text(style),
            "doctor": DoctorCommand.text(
                [
                    Finding(
                        "redis persistence", .warning,
                        "the append-only file is off: a restart of Redis loses what is queued",
                        advice:
                            "CONFIG SET appendonly yes, and put it into redis.conf with appendfsync everysec."
                    )
                ], style),
        ]
    }

    @Test(arguments: tables.keys.sorted()) func `fits 80 columns`(name: String) throws {
        let text = try #require(Self.tables[name])
        // A line about a problem is a sentence, which may be wider than a table.
        for line in text.split(separator: "\n") where !line.hasPrefix("! ") {
            #expect(line.count <= 80, "\(line.count): \(line)")
        }
    }

    @Test(arguments: tables.keys.sorted()) func `headings are in capitals`(name: String) throws {
        let text = try #require(Self.tables[name])
        let headings = text.split(separator: "\n").filter { $0.contains("  APP ") || $0.hasPrefix("APP ") }
        for heading in headings { #expect(heading == heading.uppercased()) }
    }
}
