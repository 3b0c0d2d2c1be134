import FarmPolicy
import Testing

/// A connection uses fewer streams when its gateway is in trouble and returns to full speed afterwards.
struct StreamTroubleTests {
    private func connection(streams: UInt32 = 1000) -> StreamBudget {
        var budget = StreamBudget(aloneUntilAuthenticated: false)
        budget.settings(maxConcurrentStreams: streams)
        return budget
    }

    @Test func `a round with much trouble halves the streams`() {
        var budget = connection()
        for number in 1...1000 {
            budget.responded()
            if number.isMultiple(of: 4) { budget.troubled() }
        }
        // Every fourth response reports trouble. The round began with the first of them, so it ends four responses after the
        // loop.
        for _ in 0..<4 { budget.responded() }
        #expect(budget.limit == 500)
        #expect(budget.isSlowed == true)
    }

    @Test func `a few troubled responses do not reduce the streams`() {
        var budget = connection()
        for number in 1...10_000 {
            budget.responded()
            if number.isMultiple(of: 100) { budget.troubled() }
            #expect(budget.limit == 1000)
        }
    }

    @Test func `long trouble reduces the streams to one and they rise again`() {
        var budget = connection()
        var count = 0
        while budget.limit > 1 {
            budget.responded()
            budget.troubled()
            count += 1
        }
        #expect(count <= 2000)
        count = 0
        while budget.limit < 1000 {
            budget.responded()
            count += 1
        }
        #expect(count < 10_000)
        // The connection may now use all 1,000 streams that the gateway allows. So the connection does not count as slowed, although
        // the farm's own limit is 2,000 streams.
        for _ in 0..<20_000 { budget.responded() }
        #expect(budget.isSlowed == false)
    }

    @Test func `several throttled devices count as trouble`() {
        var budget = connection(streams: 100)
        for _ in 0..<100 {
            budget.responded()
            budget.throttled()
        }
        #expect(budget.limit == 100)
        #expect(budget.isSlowed == false)
        budget.slowDownForThrottling()
        for _ in 0..<100 { budget.responded() }
        #expect(budget.limit == 50)
        // No response was throttled since the first call, so the second call has no effect and the streams rise again.
        budget.slowDownForThrottling()
        for _ in 0..<2000 { budget.responded() }
        #expect(budget.limit == 100)
    }

    @Test func `a lowered limit is reported once but the single stream of a provider token is not`() {
        var budget = connection()
        // Each limit that the gateway announces, and whether the farm must report the limit as lowered.
        let settings: [(limit: UInt32, isLowered: Bool)] = [
            (1000, false), (1, false), (1000, false), (500, true), (500, false), (2000, false),
        ]
        for (limit, isLowered) in settings {
            budget.settings(maxConcurrentStreams: limit)
            let wasReported = budget.takeLowered()
            #expect(wasReported == isLowered, "\(limit)")
            let isReportedAgain = budget.takeLowered()
            #expect(!isReportedAgain)
        }
    }

    @Test func `a limit above the farm's own cap is no loss`() {
        var budget = StreamBudget(aloneUntilAuthenticated: false, cap: 100)
        for limit in [2000, 200] as [UInt32] {
            budget.settings(maxConcurrentStreams: limit)
            let wasReported = budget.takeLowered()
            #expect(!wasReported)
        }
        #expect(budget.limit == 100)
    }
}
