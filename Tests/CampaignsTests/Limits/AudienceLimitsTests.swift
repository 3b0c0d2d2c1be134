import Campaigns
import Scheduling
import Testing

/// Caps and quiet hours of the devices of one step, in the devices' zones.
struct AudienceLimitsTests {
    /// 2026-11-26 20:30 UTC: 21:30 in Berlin, and 05:30 of the next day in Tokyo.
    private static let evening = UTCTime(seconds: 1_795_725_000)

    private static func limits(
        _ caps: [Cap], quiet: QuietHours? = nil, budget: Int? = nil,
        zones: [String] = ["Europe/Berlin", "Asia/Tokyo"]
    ) throws -> AudienceLimits {
        var rules = [try CapRules(category: "news", caps: caps)]
        if let budget { rules.append(.background(pushes: budget)) }
        let rulesOfZones = zones.map { ($0, TestZones.rules($0)!) }
        return AudienceLimits(
            rules, quiet: quiet, zones: Dictionary(uniqueKeysWithValues: rulesOfZones), at: evening)
    }

    @Test func `a device is capped by the day of its zone`() throws {
        var limits = try Self.limits([Cap(pushes: 1, period: .day)])
        let counters = limits.counters
        #expect(counters.count == 2)
        for counter in counters { limits.load(counter, CapCounts()) }
        limits.count(7, in: "Europe/Berlin")
        #expect(limits.verdict(on: 7, in: "Europe/Berlin") == .capped)
        #expect(limits.verdict(on: 7, in: "Asia/Tokyo") == .allowed)
        #expect(limits.verdict(on: 8, in: "Europe/Berlin") == .allowed)
        #expect(limits.changes.count == 1 && limits.changes.allSatisfy { $0.counts[7] == 1 })
    }

    @Test func `stored counts cap a device`() throws {
        var limits = try Self.limits([Cap(pushes: 3, period: .week)])
        var counts = CapCounts()
        for _ in 0..<3 { counts.add([9]) }
        for counter in limits.counters { limits.load(counter, counts) }
        #expect(limits.verdict(on: 9, in: "Asia/Tokyo") == .capped)
        #expect(limits.verdict(on: 10, in: "Asia/Tokyo") == .allowed)
        #expect(limits.changes.isEmpty)
    }

    @Test func `quiet hours are those of the device's clocks`() throws {
        let quiet = try QuietHours(
            from: #require(TimeOfDay("22:00")), to: #require(TimeOfDay("06:00")))
        let limits = try Self.limits([], quiet: quiet)
        #expect(limits.counters.isEmpty)
        #expect(limits.verdict(on: 1, in: "Europe/Berlin") == .allowed)
        #expect(limits.verdict(on: 1, in: "Asia/Tokyo") == .quiet)
        #expect(limits.verdict(on: 1, in: "a zone that was not given") == .allowed)
    }

    @Test func `the budget and the caps of a category have counters of their own`() throws {
        var limits = try Self.limits([Cap(pushes: 9, period: .hour)], budget: 2, zones: ["Europe/Berlin"])
        #expect(limits.counters.map(\.category) == ["@background", "news"])
        for counter in limits.counters { limits.load(counter, CapCounts()) }
        for _ in 0..<2 {
            #expect(limits.verdict(on: 5, in: "Europe/Berlin") == .allowed)
            limits.count(5, in: "Europe/Berlin")
        }
        #expect(limits.verdict(on: 5, in: "Europe/Berlin") == .capped)
        #expect(limits.changes.map { $0.counts[5] } == [2, 2])
    }

    @Test func `a definition becomes rules and quiet hours`() throws {
        let limits = try campaign(
            #"{"segment":"all","payload":{},"rate":1,"caps":[{"pushes":2,"per":"day"}]}"#
        ).limits
        #expect(
            try limits.rules(counted: [.week])
                == CapRules(category: nil, caps: [Cap(pushes: 2, period: .day)], counted: [.week]))
        #expect(try limits.quietHours() == nil && limits.stopShare == 0.2)
    }
}
