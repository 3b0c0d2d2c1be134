import RandomTesting
import Testing

@testable import FarmPolicy

/// Compares a breaker under random responses with a simple model of its rules.
@Suite struct GatewayCircuitBreakerWalkTests {
    private enum Now: Equatable {
        case flows(troubles: Int)
        /// From the time `since`, the breaker allows no push. The pause is not shorter than `least` and not longer than `most`.
        case pauses(since: ContinuousClock.Instant, least: Duration, most: Duration)
        case probes
    }

    @Test(arguments: 0..<4)
    func `ten troubles in a row, a pause, one probe`(block: UInt64) throws {
        for seed in block * 500..<(block + 1) * 500 {
            var random = SplitMix(seed: seed)
            var breaker = GatewayCircuitBreaker()
            var now = ContinuousClock.now
            var state = Now.flows(troubles: 0)
            var pauses = 0
            func pause() -> Now {
                let base = min(Duration.seconds(5), .milliseconds(500 << min(pauses, 6)))
                pauses += 1
                return .pauses(since: now, least: base / 2, most: base)
            }
            // How many responses are failures: with 2 about half of them, with 40 nearly all, and with 1 all. The value changes
            // rarely.
            var trouble: UInt64 = 2
            for _ in 0..<150 {
                now += .milliseconds(Int.random(in: 0...900, using: &random))
                if random.chance(30) { trouble = [2, 2, 40, 1].randomElement(using: &random) ?? 2 }
                let permit = breaker.permit(at: now)
                switch (permit, state) {
                case (.all, .flows): break
                case (.nothing(nil), .probes): break
                case (.probe, .pauses(let since, let least, _)):
                    try #require(since.duration(to: now) >= least, "seed \(seed)")
                    if random.chance(2) {
                        breaker.probeSent()
                        state = .probes
                    }
                case (.nothing(let until?), .pauses(let since, let least, let most)):
                    let length = since.duration(to: until)
                    try #require(length >= least && length <= most && until > now, "seed \(seed): \(length)")
                default:
                    Issue.record("seed \(seed): \(permit) in \(state)")
                    return
                }
                try #require(breaker.isClosed == (permit == .all))
                switch random.next() % 8 {
                case 0...4 where trouble == 1 || !random.chance(trouble):
                    breaker.failed(at: now, using: &random)
                    switch state {
                    case .flows(let troubles):
                        state = troubles + 1 < 10 ? .flows(troubles: troubles + 1) : pause()
                    case .probes: state = pause()
                    case .pauses: break
                    }
                case 0...5 where trouble != 1:
                    breaker.succeeded()
                    if state != .flows(troubles: 0) { pauses = 0 }
                    state = .flows(troubles: 0)
                case 6:
                    breaker.probeUnprocessed(at: now)
                    if state == .probes { state = .pauses(since: now, least: .zero, most: .zero) }
                default: break
                }
            }
        }
    }
}
