import RandomTesting
import Scheduling
import Segments
import Testing

struct CapFilterTests {
    private static let noon = utc("2026-11-26T12:00Z")

    private static func filter(
        _ counters: [CapCounter], stored: [String: CapCounts] = [:]
    ) -> CapFilter {
        var filter = CapFilter()
        for counter in counters { filter.add(counter, stored[counter.name] ?? CapCounts()) }
        return filter
    }

    @Test func `counts survive their bytes, and stop at the greatest cap`() throws {
        var counts = CapCounts()
        for _ in 0..<20 { counts.add([7]) }
        counts.add([8, 65_535, 8])
        let read = try #require(CapCounts(bytes: counts.bytes))
        #expect(read == counts)
        #expect([7, 8, 9, 65_535].map { read[$0] } == [15, 2, 0, 1])
        #expect(read.isReached(8, cap: 2) && !read.isReached(8, cap: 3))
        #expect(read.reached(cap: 2).ordinals == [7, 8] && read.reached(cap: 15).ordinals == [7])
        #expect(CapCounts(bytes: [1, 2]) == nil)
    }

    @Test func `the first reached cap excludes a device`() throws {
        let rules = try CapRules(
            category: "news", caps: [Cap(pushes: 2, period: .hour), Cap(pushes: 3, period: .day)])
        var stored: [String: CapCounts] = [:]
        var accepted: [Int] = []
        for hour in 0..<4 {
            let time = Self.noon.adding(milliseconds: Int64(hour) * 3_600_000)
            let counters = rules.counters(at: time, in: Zones["UTC"])
            var filter = Self.filter(counters, stored: stored)
            var pushes = 0
            while filter.reached(by: 9, counters) == nil {
                filter.count(9, counters)
                pushes += 1
            }
            accepted.append(pushes)
            #expect(filter.reached(by: 10, counters) == nil)
            #expect(filter.reached(by: 9, counters)?.period == (hour == 0 ? .hour : .day))
            for change in filter.changes { stored[change.counter.name] = change.counts }
        }
        #expect(accepted == [2, 1, 0, 0])
    }

    @Test func `a counter without a cap only counts`() throws {
        let rules = try CapRules(category: "news", caps: [], counted: [.day])
        let counters = rules.counters(at: Self.noon, in: Zones["UTC"])
        var filter = Self.filter(counters)
        #expect(filter.changes.isEmpty)
        for _ in 0..<20 {
            #expect(filter.reached(by: 3, counters) == nil)
            filter.count(3, counters)
        }
        #expect(filter.changes.map(\.counts[3]) == [15])
    }

    @Test func `the budget of background pushes holds over all categories`() throws {
        let budget = CapRules.background(pushes: 3).counters(at: Self.noon, in: Zones["UTC"])
        var stored: [String: CapCounts] = [:]
        var accepted = 0
        for category in ["a", "b", "c", "d", "e"] {
            let rules = try CapRules(category: category, caps: [Cap(pushes: 9, period: .day)])
            let counters = rules.counters(at: Self.noon, in: Zones["UTC"]) + budget
            var filter = Self.filter(counters, stored: stored)
            if filter.reached(by: 1, counters) == nil {
                filter.count(1, counters)
                accepted += 1
            }
            for change in filter.changes { stored[change.counter.name] = change.counts }
        }
        #expect(accepted == 3)
    }

    @Test func `a device never gets more than its cap in a local day`() throws {
        let zone = Zones["Europe/Berlin"]
        let rules = try CapRules(category: "news", caps: [Cap(pushes: 2, period: .day)])
        var random = SplitMix(seed: 3)
        var stored: [String: CapCounts] = [:]
        var perDay: [Int64: Int] = [:]
        // The night of 2026-10-25 has 25 hours.
        var time = utc("2026-10-23T00:00Z")
        while time < utc("2026-10-28T00:00Z") {
            let counters = rules.counters(at: time, in: zone)
            var filter = Self.filter(counters, stored: stored)
            if filter.reached(by: 5, counters) == nil {
                filter.count(5, counters)
                perDay[zone.localTime(at: time).date.dayNumber, default: 0] += 1
            }
            for change in filter.changes { stored[change.counter.name] = change.counts }
            time = time.adding(milliseconds: Int64(random.int(in: 60_000...3_600_000)))
        }
        #expect(perDay.count >= 5 && perDay.values.allSatisfy { $0 == 2 }, "\(perDay)")
    }

    @Test func `zones share a counter with the same name, and count in their own counters`() throws {
        let rules = try CapRules(category: nil, caps: [Cap(pushes: 1, period: .hour)])
        let (berlin, tokyo, delhi) = (
            rules.counters(at: Self.noon, in: Zones["Europe/Berlin"]),
            rules.counters(at: Self.noon, in: Zones["Asia/Tokyo"]),
            rules.counters(at: Self.noon, in: Zones["Asia/Kolkata"])
        )
        #expect(berlin.map(\.name) == tokyo.map(\.name) && berlin.map(\.name) != delhi.map(\.name))
        var filter = Self.filter(berlin + tokyo + delhi)
        filter.count(4, berlin)
        #expect(filter.reached(by: 4, tokyo) != nil && filter.reached(by: 4, delhi) == nil)
        #expect(filter.changes.map(\.counter.name) == berlin.map(\.name))
    }
}
