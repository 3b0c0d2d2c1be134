import FarmPolicy
import RandomTesting
import Testing

@testable import Gateway

/// Runs the parts that control a connection together, on one simulated clock: stream budget, deadlines, circuit breaker and
/// backoff.
/// The gateway responds, fails, sends nothing, changes its stream limit, disappears and returns.
@Suite struct GovernorWalkTests {
    private static let timeout = Duration.seconds(5)

    private enum Response { case good, trouble, none }

    private struct Walk: ~Copyable {
        var random: SplitMix
        var now = ContinuousClock.now
        /// The elapsed milliseconds.
        var moment: UInt32 = 0
        var budget: StreamBudget
        var pushes = PushesInFlight(timeout: UInt32(GovernorWalkTests.timeout / .milliseconds(1)))
        var breaker = GatewayCircuitBreaker()
        var backOff = BackOff()
        var open: [(slot: Int, sentAt: Instant, response: Response, at: Instant)] = []
        /// The number of streams that are still open although their requests have passed the deadline.
        var abandoned = 0
        var limit = 0
        var isConnected = false
        var dialAt = ContinuousClock.now
        var isHealthy = false
        var mood = Response.good
        var sent = 0
        var responded = 0
        var isProbing = false

        init(seed: UInt64) {
            random = SplitMix(seed: seed)
            budget = StreamBudget(aloneUntilAuthenticated: true, cap: 64)
        }

        mutating func step() throws(BrokenInvariant) {
            let time = random.int(in: 1...200)
            now += .milliseconds(time)
            moment += UInt32(time)
            if !isHealthy {
                if random.chance(25) {
                    mood = [.good, .trouble, .none].randomElement(using: &random) ?? .good
                }
                if isConnected, random.chance(40) { changeLimit() }
                if isConnected, random.chance(60) { lose() }
            }
            if !isConnected, now >= dialAt { connect() }
            try expire()
            respond()
            if isConnected { try send() }
            try BrokenInvariant.unless(
                open.count + abandoned == budget.open, "\(budget.open) streams, \(open.count) requests")
            let waiting = pushes.waiting
            try BrokenInvariant.unless(waiting == open.count, "\(waiting) deadlines of \(open.count)")
            let latest = now + GovernorWalkTests.timeout * 20
            for request in open { try BrokenInvariant.unless(request.at <= latest, "a deadline is too late") }
        }

        private mutating func connect() {
            if !isHealthy, random.chance(3) {
                let pause = backOff.failed(using: &random)
                dialAt = now + pause
                return
            }
            backOff.succeeded()
            isConnected = true
            budget = StreamBudget(aloneUntilAuthenticated: true, cap: 64)
            limit = random.int(in: 1...100)
            budget.settings(maxConcurrentStreams: UInt32(limit))
        }

        private mutating func changeLimit() {
            limit = random.int(in: 1...100)
            budget.settings(maxConcurrentStreams: UInt32(limit))
        }

        /// Loses the connection, so every open push has an unknown outcome.
        private mutating func lose() {
            isConnected = false
            for request in open { close(request.slot) }
            for _ in 0..<abandoned { budget.closed() }
            abandoned = 0
            open = []
            if isProbing { troubled() }
            let pause = backOff.failed(using: &random)
            dialAt = now + pause
        }

        private mutating func close(_ slot: Int) {
            pushes.remove(slot)
            budget.closed()
        }

        private mutating func troubled() {
            isProbing = false
            breaker.failed(at: now, using: &random)
        }

        private mutating func expire() throws(BrokenInvariant) {
            let waiting = pushes.waiting
            while let late = pushes.takeLate(at: moment) {
                guard let index = open.firstIndex(where: { $0.slot == late }) else {
                    Issue.record("expired what is not open")
                    return
                }
                open.remove(at: index)
                abandoned += 1
                pushes.remove(late)
                if isProbing { troubled() }
            }
            // The client resets each late request, and its stream ends at once.
            for _ in 0..<abandoned { budget.closed() }
            abandoned = 0
            if (waiting - pushes.waiting) * 8 > waiting { budget.timedOut() }
            try BrokenInvariant.unless(
                open.allSatisfy { $0.sentAt + GovernorWalkTests.timeout > now },
                "nothing waits beyond its deadline")
        }

        private mutating func respond() {
            let ready = open.filter { $0.at <= now && $0.response != .none }
            open.removeAll { $0.at <= now && $0.response != .none }
            for request in ready {
                close(request.slot)
                budget.responded()
                responded += 1
                budget.authenticated()
                if request.response == .good {
                    isProbing = false
                    breaker.succeeded()
                } else {
                    troubled()
                }
            }
        }

        private mutating func send() throws(BrokenInvariant) {
            var most = budget.available
            switch breaker.permit(at: now) {
            case .all: break
            case .probe: most = min(most, 1)
            case .nothing(let until):
                if let until {
                    try BrokenInvariant.unless(until - now <= .seconds(15), "a breaker's pause is bounded")
                }
                return
            }
            let isProbe = !breaker.isClosed
            for _ in 0..<min(most, 64 - open.count) {
                budget.opened()
                let slot = pushes.add(PushTicket(batch: 0, position: 0), generation: 0, sentAt: moment)
                let delay = Duration.milliseconds(random.int(in: 1...400))
                open.append((slot, now, isHealthy ? .good : mood, now + delay))
                sent += 1
                if isProbe {
                    breaker.probeSent()
                    isProbing = true
                }
            }
            try BrokenInvariant.unless(
                budget.open <= max(budget.limit, open.count), "more streams than are allowed")
        }

        /// The gateway recovers. Pushes must be delivered within a bounded time.
        mutating func heal() throws(BrokenInvariant) {
            isHealthy = true
            let before = responded
            let deadline = now + .seconds(90)
            while now < deadline, responded < before + 200 { try step() }
            try BrokenInvariant.unless(responded >= before + 200, "nothing flows though the gateway is well")
            try BrokenInvariant.unless(breaker.isClosed, "the breaker is open though the gateway is well")
        }
    }

    @Test(arguments: 0..<8)
    func `limits hold and pushes flow within a bounded time after a recovery`(
        block: UInt64
    ) {
        for seed in block * 250..<(block + 1) * 250 {
            var walk = Walk(seed: seed)
            do throws(BrokenInvariant) {
                for _ in 0..<200 { try walk.step() }
                try walk.heal()
            } catch {
                Issue.record("seed \(seed): \(error)")
                return
            }
        }
    }
}
