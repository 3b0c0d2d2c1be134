import Scheduling
import Testing

struct CapRulesTests {
    private static func rules(_ caps: [(Int, CapPeriod)], counted: [CapPeriod] = []) throws -> CapRules {
        try CapRules(
            category: "news", caps: caps.map { try Cap(pushes: $0.0, period: $0.1) }, counted: counted)
    }

    /// The zone, the time, the period, and the counter's name and expiry.
    private static let known: [(String, String, CapPeriod, String, String)] = [
        // The hour of 2026-11-26 05:00 UTC has the same counter in all zones of whole hours.
        ("UTC", "2026-11-26T05:40Z", .hour, "news:hour:1795669200", "2026-11-26T09:00Z"),
        ("Asia/Tokyo", "2026-11-26T05:40Z", .hour, "news:hour:1795669200", "2026-11-26T09:00Z"),
        ("Asia/Kolkata", "2026-11-26T05:40Z", .hour, "news:hour:1795671000", "2026-11-26T09:30Z"),
        // An hour that the clocks show twice has one counter.
        ("Europe/Berlin", "2026-10-25T00:10Z", .hour, "news:hour:1792886400", "2026-10-25T04:00Z"),
        ("Europe/Berlin", "2026-10-25T01:50Z", .hour, "news:hour:1792886400", "2026-10-25T04:00Z"),
        ("Europe/Berlin", "2026-10-25T02:00Z", .hour, "news:hour:1792893600", "2026-10-25T06:00Z"),
        // The hour after the hour that the clocks skip.
        ("Europe/Berlin", "2026-03-29T01:00Z", .hour, "news:hour:1774746000", "2026-03-29T05:00Z"),
        // A day and a week have the number of the local date, and expire when no zone has this date.
        ("UTC", "2026-11-26T05:40Z", .day, "news:day:20783", "2026-11-28T02:00Z"),
        ("Asia/Tokyo", "2026-11-25T15:00Z", .day, "news:day:20783", "2026-11-28T02:00Z"),
        ("America/New_York", "2026-11-27T04:59Z", .day, "news:day:20783", "2026-11-28T02:00Z"),
        ("UTC", "2026-11-29T23:59Z", .week, "news:week:2969", "2026-12-01T02:00Z"),
        ("UTC", "2026-11-30T00:00Z", .week, "news:week:2970", "2026-12-08T02:00Z"),
    ]

    @Test(arguments: known) func `a time has a counter`(
        zone: String, time: String, period: CapPeriod, name: String, expiry: String
    ) throws {
        let rules = try Self.rules([(3, period)])
        let counter = try #require(rules.counters(at: utc(time), in: Zones[zone]).first)
        #expect(counter.name == name)
        #expect(counter.expiresAt == utc(expiry))
        #expect(counter.cap == 3 && counter.period == period)
    }

    @Test(arguments: recordedZones.map(\.name)) func `no counter expires before its period has ended`(
        zone: String
    ) throws {
        let rules = try Self.rules([(1, .hour), (1, .day), (1, .week)])
        let changes = recordedZones.first { $0.name == zone }!.changeTimes.map(\.time)
        for change in changes {
            for hours in [-30, -1, 0, 1, 30] {
                let time = UTCTime(seconds: change).adding(milliseconds: Int64(hours) * 3_600_000)
                for counter in rules.counters(at: time, in: Zones[zone]) {
                    let bucket = counter.period.bucket(at: time, in: Zones[zone])
                    #expect(bucket.end <= counter.expiresAt, "\(counter.name) at \(time)")
                }
            }
        }
    }

    @Test func `periods that others cap are counted without a cap`() throws {
        let rules = try Self.rules([(5, .day)], counted: [.hour, .day])
        let counters = rules.counters(at: utc("2026-11-26T05:40Z"), in: Zones["UTC"])
        #expect(counters.map(\.period) == [.hour, .day])
        #expect(counters.map(\.cap) == [nil, 5])
    }

    @Test func `the budget of background pushes has a category of its own`() throws {
        let counters = CapRules.background(pushes: 3).counters(
            at: utc("2026-11-26T05:40Z"), in: Zones["UTC"])
        #expect(counters.map(\.name) == ["@background:hour:1795669200"])
        #expect(counters.map(\.cap) == [3])
        #expect(throws: ScheduleError.self) { try CapRules(category: CapRules.backgroundCategory, caps: []) }
    }

    @Test func `campaigns without a category share counters`() throws {
        let rules = try CapRules(category: nil, caps: [Cap(pushes: 1, period: .day)])
        let counters = rules.counters(at: utc("2026-11-26T05:40Z"), in: Zones["UTC"])
        #expect(counters.map(\.name) == ["@common:day:20783"])
    }

    @Test(arguments: ["", "a b", "a:b", "ä", String(repeating: "a", count: 65)])
    func `other categories are refused`(category: String) {
        #expect(throws: ScheduleError.self) { try CapRules(category: category, caps: []) }
    }

    @Test func `wrong caps are refused`() throws {
        #expect(Self.fault { try Self.rules([(16, .day)]) } == "caps: pushes must be from 1 to 15")
        #expect(Self.fault { try Self.rules([(0, .day)]) } == "caps: pushes must be from 1 to 15")
        let twice = Self.fault { try Self.rules([(5, .day), (6, .day)]) }
        #expect(twice == "caps: two caps are for the same day")
    }

    private static func fault(_ body: () throws -> CapRules) -> String? {
        do { _ = try body() } catch { return (error as? ScheduleError)?.description }
        return nil
    }
}
