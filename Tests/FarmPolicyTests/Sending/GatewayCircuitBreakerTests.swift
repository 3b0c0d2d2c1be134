import FarmPolicy
import RandomTesting
import Testing

struct GatewayCircuitBreakerTests {
    private static let start = ContinuousClock().systemEpoch
    private var random = SplitMix(seed: 1)

    private func at(_ milliseconds: Int) -> ContinuousClock.Instant {
        Self.start.advanced(by: .milliseconds(milliseconds))
    }

    private func opened(_ random: inout SplitMix) -> (GatewayCircuitBreaker, ContinuousClock.Instant) {
        var breaker = GatewayCircuitBreaker()
        for _ in 0..<10 { breaker.failed(at: Self.start, using: &random) }
        guard case .nothing(let until?) = breaker.permit(at: Self.start) else { return (breaker, Self.start) }
        return (breaker, until)
    }

    @Test func `ten troubles in a row open the breaker`() {
        var random = random
        var breaker = GatewayCircuitBreaker()
        for _ in 0..<9 { breaker.failed(at: Self.start, using: &random) }
        #expect(breaker.permit(at: Self.start) == .all)
        breaker.succeeded()
        for _ in 0..<9 { breaker.failed(at: Self.start, using: &random) }
        #expect(breaker.isClosed)
        breaker.failed(at: Self.start, using: &random)
        #expect(!breaker.isClosed)
    }

    @Test func `one probe is sent after the pause and its response closes the breaker`() {
        var random = random
        var (breaker, until) = opened(&random)
        #expect(until >= at(250) && until <= at(500))
        #expect(breaker.permit(at: until.advanced(by: .milliseconds(-1))) == .nothing(until: until))
        #expect(breaker.permit(at: until) == .probe)
        breaker.probeSent()
        #expect(breaker.permit(at: at(60_000)) == .nothing(until: nil))
        breaker.succeeded()
        #expect(breaker.permit(at: at(60_000)) == .all)
    }

    @Test func `each failed probe doubles the pause up to 5 seconds`() {
        var random = random
        var (breaker, now) = opened(&random)
        for full in [1000, 2000, 4000, 5000, 5000, 5000] {
            breaker.probeSent()
            breaker.failed(at: now, using: &random)
            guard case .nothing(let until?) = breaker.permit(at: now) else {
                Issue.record("not open")
                return
            }
            let pause = now.duration(to: until)
            #expect(pause >= .milliseconds(full) / 2 && pause <= .milliseconds(full))
            now = until
        }
        breaker.succeeded()
        for _ in 0..<10 { breaker.failed(at: now, using: &random) }
        #expect(breaker.permit(at: now.advanced(by: .milliseconds(500))) == .probe)
    }

    @Test func `late responses while open close the breaker unless they are trouble`() {
        var random = random
        var (breaker, until) = opened(&random)
        for _ in 0..<100 { breaker.failed(at: at(100), using: &random) }
        #expect(breaker.permit(at: at(100)) == .nothing(until: until))
        breaker.succeeded()
        #expect(breaker.permit(at: at(100)) == .all)
    }

    @Test func `a probe that was not sent may be sent again`() {
        var random = random
        var (breaker, until) = opened(&random)
        breaker.probeSent()
        breaker.probeUnprocessed(at: until)
        #expect(breaker.permit(at: until) == .probe)
    }
}
