import Campaigns
import Scheduling
import Testing

struct CampaignForecastTests {
    private static let start = utc("2026-07-01T05:00:00Z")

    /// A campaign in one window of two hours, which is observed every five seconds.
    struct Case: CustomTestStringConvertible {
        let testDescription: String
        /// The devices at the start.
        var devices = 72_000
        /// Pushes accepted a second, and pushes with an outcome a second.
        var accepted = 10.0
        var settled: Double?
        var ceiling = 1_000.0
        var waits: Int64 = 0
        /// The seconds of observation.
        var seconds = 600
        let verdict: Expected
    }

    enum Expected: Equatable {
        case fits, unclear
        /// The shortfall in pushes, the rate, and the seconds that are left.
        case late(Int, rate: Double, seconds: Int64)
    }

    static let cases: [Case] = [
        Case(testDescription: "the planned rate", verdict: .fits),
        Case(
            testDescription: "half of the planned rate", accepted: 5,
            verdict: .late(69_000 - 33_000, rate: 5, seconds: 6_600)),
        Case(
            testDescription: "the gateway is slower than the campaign", settled: 5,
            verdict: .late(69_000 - 33_000, rate: 5, seconds: 6_600)),
        Case(
            testDescription: "no push gets an outcome", settled: 0,
            verdict: .late(72_000, rate: 0, seconds: 6_600)),
        Case(testDescription: "a little too slow", accepted: 9, verdict: .unclear),
        Case(testDescription: "the measurement is too short", accepted: 5, seconds: 25, verdict: .unclear),
        Case(
            testDescription: "the highest rate is too low", accepted: 5, ceiling: 5, seconds: 5,
            verdict: .late(71_975 - 35_975, rate: 5, seconds: 7_195)),
        Case(
            testDescription: "the highest rate suffices just", accepted: 0, ceiling: 10, seconds: 0,
            verdict: .unclear),
        Case(
            testDescription: "too few devices for a measurement in this time", devices: 720, accepted: 0,
            verdict: .unclear),
        Case(
            testDescription: "few devices, and enough time", devices: 720, accepted: 0, seconds: 4_000,
            verdict: .late(720, rate: 0, seconds: 3_200)),
        Case(
            testDescription: "a shortfall of less than ten pushes", devices: 9, accepted: 0, seconds: 7_000,
            verdict: .fits),
        Case(
            testDescription: "a wait after a stage takes the time", accepted: 15, waits: 3_600_000,
            verdict: .late(63_000 - 45_000, rate: 15, seconds: 3_000)),
    ]

    @Test(arguments: cases) func `the verdict compares rate and remaining time`(one: Case) {
        var forecast = CampaignForecast(shortest: 30_000)
        var verdict = CampaignForecast.Verdict.unclear
        for second in stride(from: 0, through: one.seconds, by: 5) {
            let handled = Int(one.accepted * Double(second))
            let open = handled - Int((one.settled ?? one.accepted) * Double(second))
            verdict = forecast.verdict(
                RemainingWork(
                    parts: [Self.part(handled: handled, of: one.devices, waits: one.waits)],
                    ceiling: one.ceiling), open: open, second: second)
        }
        #expect(Self.plain(verdict) == one.verdict)
    }

    @Test func `a verdict follows the rate, and a restart forgets it`() {
        var forecast = CampaignForecast(shortest: 30_000)
        var (handled, second) = (0, 0)
        func work() -> RemainingWork {
            RemainingWork(parts: [Self.part(handled: handled, of: 72_000)], ceiling: 1_000)
        }
        func play(_ seconds: Int, rate: Int) -> Expected {
            var verdict = CampaignForecast.Verdict.unclear
            for _ in 0..<seconds / 5 {
                (second, handled) = (second + 5, handled + 5 * rate)
                verdict = forecast.verdict(work(), open: 0, second: second)
            }
            return Self.plain(verdict)
        }
        #expect(play(300, rate: 10) == .fits)
        guard case .late = play(60, rate: 2) else { return #expect(Bool(false), "the campaign is late") }
        #expect(play(60, rate: 20) == .fits)
        guard case .late = play(60, rate: 2) else { return #expect(Bool(false), "the campaign is late") }
        forecast.restart()
        #expect(play(20, rate: 10) == .unclear)
        #expect(play(20, rate: 11) == .fits)
    }

    @Test func `a window that begins does not make the other windows late`() {
        var forecast = CampaignForecast(shortest: 30_000)
        let second = Self.part(handled: 0, of: 720_000, group: 1)
        for time in stride(from: 0, through: 100, by: 5) {
            _ = forecast.verdict(
                RemainingWork(parts: [Self.part(handled: 10 * time, of: 72_000)], ceiling: 1_000), open: 0,
                second: time)
        }
        let both = RemainingWork(parts: [Self.part(handled: 1_000, of: 72_000), second], ceiling: 1_000)
        #expect(forecast.verdict(both, open: 0, second: 100) == .unclear)
    }

    @Test func `pushes of an earlier window must fit into this window`() {
        var forecast = CampaignForecast(shortest: 30_000)
        var verdict = CampaignForecast.Verdict.unclear
        for second in stride(from: 0, through: 60, by: 5) {
            // All pushes are sent in the later window, at a rate that would suffice for both windows together.
            let parts = [
                Self.part(handled: 0, of: 6_000, minutes: 10),
                Self.part(handled: 10 * second, of: 36_000, group: 1),
            ]
            verdict = forecast.verdict(
                RemainingWork(parts: parts, ceiling: 1_000), open: 0, second: second)
        }
        #expect(Self.plain(verdict) == .unclear)
        for second in stride(from: 65, through: 300, by: 5) {
            let parts = [
                Self.part(handled: 0, of: 6_000, minutes: 10),
                Self.part(handled: 10 * second, of: 36_000, group: 1),
            ]
            verdict = forecast.verdict(
                RemainingWork(parts: parts, ceiling: 1_000), open: 0, second: second)
        }
        #expect(Self.plain(verdict) == .late(3_000, rate: 10, seconds: 300))
    }

    @Test func `a campaign that sends nothing now is not late`() {
        var forecast = CampaignForecast(shortest: 30_000)
        let (idle, waiting) = (
            RemainingWork(parts: [], ceiling: 1), RemainingWork(parts: [], ceiling: 1, isBetweenStages: true)
        )
        #expect(forecast.verdict(idle, open: 9_999, second: 60) == .fits)
        #expect(forecast.verdict(waiting, open: 9_999, second: 60) == .unclear)
    }

    @Test func `a shortfall names the pushes, the time and the rate`() {
        let shortfall = CampaignForecast.Shortfall(pushes: 36_000, rate: 5.04, time: 6_600_000)
        #expect(
            shortfall.text
                == "36,000 pushes do not fit into the remaining 1 h 50 min at 5 pushes a second")
    }

    // MARK: Helpers

    private static func part(
        handled: Int, of devices: Int, group: Int = 0, minutes: Int64 = 120, waits: Int64 = 0
    ) -> RemainingWork.Part {
        RemainingWork.Part(
            section: .init(group: group), left: devices - handled, handled: handled,
            allowed: TimeRangeSet([start..<start.adding(milliseconds: minutes * 60_000)]), waits: waits)
    }

    private static func plain(_ verdict: CampaignForecast.Verdict) -> Expected {
        switch verdict {
        case .fits: .fits
        case .unclear: .unclear
        case .late(let shortfall):
            .late(shortfall.pushes, rate: shortfall.rate, seconds: shortfall.time / 1000)
        }
    }
}

extension CampaignForecast {
    fileprivate mutating func verdict(_ work: RemainingWork, open: Int, second: Int) -> Verdict {
        verdict(
            on: work, open: open,
            at: utc("2026-07-01T05:00:00Z").adding(milliseconds: Int64(second) * 1000))
    }
}
