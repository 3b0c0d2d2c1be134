import FarmPolicy
import Testing

/// A connection goes slower when its gateway is in trouble, and as fast as before when it is not.
struct StreamTroubleTests {
    private func connection(streams: UInt32 = 1000) -> StreamBudget {
        var budget = StreamBudget(aloneUntilAuthenticated: false)
        budget.settings(maxConcurrentStreams: streams)
        return budget
    }

    @Test func `a round with a good part of trouble halves the streams`() {
        var budget = connection()
        for number in 1...1000 {
            budget.answered()
            if number.isMultiple(of: 4) { budget.troubled() }
        }
        // The first trouble began the round.
        for _ in 0..<4 { budget.answered() }
        #expect(budget.limit == 500)
        #expect(budget.isSlowed == true)
    }

    @Test func `a few troubled answers slow nobody`() {
        var budget = connection()
        for number in 1...10_000 {
            budget.answered()
            if number.isMultiple(of: 100) { budget.troubled() }
            #expect(budget.limit == 1000)
        }
    }

    @Test func `what is in trouble for long goes down to one stream, and up again`() {
        var budget = connection()
        var answers = 0
        while budget.limit > 1 {
            budget.answered()
            budget.troubled()
            answers += 1
        }
        #expect(answers <= 2000)
        answers = 0
        while budget.limit < 1000 {
            budget.answered()
            answers += 1
        }
        #expect(answers < 10_000)
        // The rest up to the cap is no limit any more: the gateway's own is lower.
        for _ in 0..<20_000 { budget.answered() }
        #expect(budget.isSlowed == false)
    }

    @Test func `throttled devices are trouble when they are several`() {
        var budget = connection(streams: 100)
        for _ in 0..<100 {
            budget.answered()
            budget.throttled()
        }
        #expect(budget.limit == 100)
        #expect(budget.isSlowed == false)
        budget.slowDownForThrottling()
        for _ in 0..<100 { budget.answered() }
        #expect(budget.limit == 50)
        // Heard once, and not again.
        budget.slowDownForThrottling()
        for _ in 0..<2000 { budget.answered() }
        #expect(budget.limit == 100)
    }

    @Test func `a lowered limit is told once, but not the one stream of a provider token`() {
        var budget = connection()
        // What the gateway says, and whether that is less than it was, for us.
        let settings: [(limit: UInt32, isLowered: Bool)] = [
            (1000, false), (1, false), (1000, false), (500, true), (500, false), (2000, false),
        ]
        for (limit, isLowered) in settings {
            budget.settings(maxConcurrentStreams: limit)
            let wasTold = budget.takeLowered()
            #expect(wasTold == isLowered, "\(limit)")
            let isToldAgain = budget.takeLowered()
            #expect(!isToldAgain)
        }
    }

    @Test func `what is above our own cap is not missed`() {
        var budget = StreamBudget(aloneUntilAuthenticated: false, cap: 100)
        for limit in [2000, 200] as [UInt32] {
            budget.settings(maxConcurrentStreams: limit)
            let wasTold = budget.takeLowered()
            #expect(!wasTold)
        }
        #expect(budget.limit == 100)
    }
}
