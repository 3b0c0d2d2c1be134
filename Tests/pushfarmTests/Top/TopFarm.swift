@testable import RedisClient
@testable import StoreProtocol
@testable import pushfarm

/// An invented farm for `top`.
enum TopFarm {
    static let start: Int64 = 1_800_000_000_000

    /// - Parameters:
    ///   - second: the seconds since the first reading.
    ///   - rate: the rate of app "news".
    static func snapshot(
        _ second: Int = 0, rate: Int = 12_000, pausesShop: Bool = false, hosts: [String] = ["alpha", "beta"],
        alerts: Int = 0, jobs: [JobRecord] = []
    ) -> TopModel.Snapshot {
        let lines = hosts.enumerated().map { index, name in
            HostStatus(
                name: name, json: Array(host(name, index, rate / hosts.count).utf8), isAlive: name != "gone")
        }
        var status = FarmStatus(
            hosts: lines, apps: [app("news", open: 1_204_311), app("shop", open: 120, isPaused: pausesShop)],
            redis: RedisInfo(
                "redis_version:7.0.15\r\nused_memory:512000000\r\nmaxmemory:2000000000\r\nmaxmemory_policy:noeviction"
            ))
        if hosts.contains("alpha") {
            status.hosts[0].campaigns = [
                campaign("magazine", total: 0, isLate: true), campaign("ed-2026-11-27", total: 400 * second),
            ]
        }
        status.at = start + Int64(second) * 1000
        status.alerts = (0..<alerts).map { number in
            FarmRedis.ActiveAlert(
                id: "backlog_age app a\(number) ", level: 1, since: start,
                text: "a\(number): the oldest push has waited 7 min")
        }
        return TopModel.Snapshot(status: status, jobs: jobs)
    }

    private static func campaign(_ id: String, total: Int, isLate: Bool = false) -> HostStatus.Campaign {
        var campaign = HostStatus.Campaign()
        (campaign.app, campaign.campaign, campaign.state, campaign.isLate) = ("news", id, "running", isLate)
        (campaign.round, campaign.rounds) = (2, 4)
        (campaign.counted, campaign.handled, campaign.total) = (40_000, total, total)
        (campaign.remaining, campaign.next) = (38 * 60_000, Int(start) + 3_600_000)
        return campaign
    }

    private static func host(_ name: String, _ index: Int, _ rate: Int) -> String {
        let workers = (0..<2).map { number in
            """
            {"worker":"\(number)","pid":\(4000 + index * 10 + number),"state":"ready","shards":16,"connections":2,"streams":\(900 + number),"rate":\(rate / 2),"restarts":\(number),"rss":15200000,"delivered":1000000,"failed":120,"busy":\(60 + number),"since":\(start - 7_200_000)}
            """
        }
        return """
            {"host":"\(name)","pid":\(3000 + index),"state":"running","capacity":2,"since":\(start - 7_200_000),"intake":{"pid":\(3500 + index),"state":"ready","rate":12,"rss":9000000,"jobs":4400},"workers":[\(workers.joined(separator: ","))],"apps":[{"app":"news","shards":32,"rate":\(rate),"errors":\(rate / 200),"connections":4,"streams":1801,"p50":23,"p99":84},{"app":"shop","shards":32,"rate":0}]}
            """
    }

    private static func app(_ name: String, open: Int, isPaused: Bool = false) -> AppStatus {
        var status = AppStatus(
            app: name,
            pause: isPaused
                ? .init(reason: "credentials: InvalidProviderToken", fingerprint: "", since: 0) : nil,
            full: nil,
            depths: ReadDepths.Reply(
                inbox: 3, taken: 1, delayed: 7, results: 2, paused: 0, open: open,
                shards: [.init(high: 2, bulk: 4_000, flight: 12)]),
            openJobs: nil,
            owners: [.init(host: "alpha", shards: 64, hasIntake: true, leaseRemaining: .seconds(5))],
            unowned: 0)
        status.ages = ReadAges.Reply(high: .seconds(2), bulk: .seconds(754))
        status.dead = 3
        return status
    }

    static func job(_ id: String, accepted: Int, delivered: Int, failed: Int = 0) -> JobRecord {
        var jobRecord = JobRecord(id: id, app: "news", state: .open)
        (jobRecord.submitted, jobRecord.accepted, jobRecord.delivered) = (accepted, accepted, delivered)
        jobRecord.failed = failed
        jobRecord.reasons = failed > 0 ? ["Unregistered": failed] : [:]
        jobRecord.createdAt = start - 60_000
        return jobRecord
    }
}
