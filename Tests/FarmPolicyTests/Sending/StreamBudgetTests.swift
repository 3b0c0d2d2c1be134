import FarmPolicy
import RandomTesting
import Testing

struct StreamBudgetTests {
    @Test func `no stream opens before the first settings`() {
        var budget = StreamBudget(aloneUntilAuthenticated: false)
        #expect(budget.available == 0)
        budget.settings(maxConcurrentStreams: 100)
        #expect(budget.available == 100)
    }

    @Test func `a provider token is used on one stream until it is accepted`() {
        var budget = StreamBudget(aloneUntilAuthenticated: true)
        budget.settings(maxConcurrentStreams: 1000)
        #expect(budget.available == 1)
        budget.opened()
        #expect(budget.available == 0)
        budget.closed()
        #expect(budget.available == 1)
        budget.opened()
        budget.authenticated()
        budget.closed()
        #expect(budget.available == 1000)
    }

    @Test func `a slow gateway gets half and more again with each round of responses`() {
        var budget = StreamBudget(aloneUntilAuthenticated: false)
        budget.settings(maxConcurrentStreams: 1000)
        budget.timedOut()
        #expect(budget.limit == 500)
        budget.timedOut()
        #expect(budget.limit == 250)
        for _ in 0..<249 { budget.responded() }
        #expect(budget.limit == 250)
        budget.responded()
        #expect(budget.limit == 312)
        for _ in 0..<20 { budget.timedOut() }
        #expect(budget.limit == 1)
        var rounds = 0
        while budget.limit < 1000 {
            for _ in 0..<budget.limit { budget.responded() }
            rounds += 1
        }
        #expect(rounds < 40)
        for _ in 0..<100_000 { budget.responded() }
        budget.timedOut()
        #expect(budget.limit == 500)
    }

    @Test
    func `a gateway that refuses most streams gets half as many but keeps all after few refusals`() {
        var budget = StreamBudget(aloneUntilAuthenticated: false)
        budget.settings(maxConcurrentStreams: 100)
        for _ in 0..<51 { budget.refused() }
        for _ in 0..<49 { budget.responded() }
        #expect(budget.limit == 50 && budget.isSlowed)
        for _ in 0..<25 { budget.refused() }
        for _ in 0..<25 { budget.responded() }
        #expect(budget.limit == 62)
        for _ in 0..<3000 {
            budget.refused()
            budget.responded()
            budget.responded()
        }
        #expect(budget.limit == 100 && !budget.isSlowed)
    }

    @Test func `a refusal before the first response does not change the streams`() {
        var budget = StreamBudget(aloneUntilAuthenticated: true)
        budget.settings(maxConcurrentStreams: 100)
        for _ in 0..<5 { budget.refused() }
        budget.authenticated()
        #expect(budget.limit == 100)
    }

    @Test func `settings raise and lower the limit`() {
        var budget = StreamBudget(aloneUntilAuthenticated: false)
        budget.settings(maxConcurrentStreams: 10)
        for _ in 0..<8 { budget.opened() }
        budget.settings(maxConcurrentStreams: 1)
        #expect(budget.available == 0)
        for _ in 0..<7 { budget.closed() }
        #expect(budget.available == 0)
        budget.closed()
        #expect(budget.available == 1)
        budget.settings(maxConcurrentStreams: 0)
        #expect(budget.available == 0)
        budget.settings(maxConcurrentStreams: nil)
        #expect(budget.available == 0)
        budget.settings(maxConcurrentStreams: .max)
        #expect(budget.available == StreamBudget.usualCap)
    }

    @Test func `first settings without a limit allow the cap`() {
        var budget = StreamBudget(aloneUntilAuthenticated: false, cap: 7)
        budget.settings(maxConcurrentStreams: nil)
        #expect(budget.available == 7)
    }

    @Test func `a connection that is closing opens no stream`() {
        var budget = StreamBudget(aloneUntilAuthenticated: false)
        budget.settings(maxConcurrentStreams: 10)
        for _ in 0..<2 { budget.opened() }
        budget.goAway()
        budget.settings(maxConcurrentStreams: 100)
        #expect(budget.available == 0)
        #expect(budget.isExhausted == true)
    }

    @Test func `stream ids run out`() {
        var budget = StreamBudget(aloneUntilAuthenticated: false, ids: 5)
        budget.settings(maxConcurrentStreams: 4)
        for _ in 0..<4 { budget.opened() }
        for _ in 0..<4 { budget.closed() }
        #expect(budget.available == 1)
        budget.opened()
        #expect(budget.isExhausted == true)
    }

    @Test func `the streams never exceed the last limit`() throws {
        for seed in 0..<3000 as Range<UInt64> {
            var random = SplitMix(seed: seed)
            let cap = Int.random(in: 1...50, using: &random)
            let isAlone = Bool.random(using: &random)
            var budget = StreamBudget(aloneUntilAuthenticated: isAlone, cap: cap)
            var limit = 0
            var isAuthenticated = !isAlone
            var open = 0
            var isGone = false
            for _ in 0..<200 {
                switch random.int(in: 0...99) {
                case 0..<10:
                    limit = Int.random(in: 0...80, using: &random)
                    budget.settings(maxConcurrentStreams: UInt32(limit))
                case 10..<55:
                    let more = budget.available
                    guard more > 0 else { continue }
                    let count = Int.random(in: 1...more, using: &random)
                    for _ in 0..<count { budget.opened() }
                    open += count
                    try BrokenInvariant.unless(
                        open <= min(limit, cap) && !isGone && (isAuthenticated || open == 1), "seed \(seed)")
                case 55..<98:
                    guard open > 0 else { continue }
                    budget.closed()
                    open -= 1
                    if Bool.random(using: &random) {
                        isAuthenticated = true
                        budget.authenticated()
                    }
                default:
                    guard Int.random(in: 0..<10, using: &random) == 0 else { continue }
                    isGone = true
                    budget.goAway()
                }
                let allowed = isGone ? 0 : max(0, min(limit, cap, isAuthenticated ? .max : 1) - open)
                try BrokenInvariant.unless(budget.available == allowed, "seed \(seed)")
                try BrokenInvariant.unless(budget.open == open, "seed \(seed)")
            }
        }
    }
}
