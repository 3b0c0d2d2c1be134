import BinaryBench
import Testing

struct VerdictTests {
    /// The counts of a farm that passes experiment (b).
    static func good() -> Tally {
        let experiment = Experiment.all[1]
        var tally = Tally(experiment.tokens, experiment: "b", sender: "the farm", length: 100_000)
        (tally.arrived, tally.distinct, tally.claimed, tally.found) = (99_000, 99_000, 99_000, 1_000)
        (tally.connections, tally.mostConnections, tally.seconds) = (1_040, 61, 12.34)
        tally.workerSeconds = 0.9
        tally.jobRecord = Tally.JobRecord(
            accepted: 100_000, delivered: 99_000, failed: 1_000, isFinished: true)
        return tally
    }

    private func verdict(_ change: (inout Tally) -> Void) -> ExperimentVerdict {
        var tally = Self.good()
        change(&tally)
        return ExperimentVerdict(on: tally, Experiment.all[1])
    }

    @Test func `a farm that keeps its promises breaks none and reaches every bar`() {
        let verdict = verdict { _ in }
        #expect(verdict.broken.isEmpty && verdict.bars.count == 4)
        #expect(verdict.bars.allSatisfy { $0.isReached })
    }

    @Test(arguments: [
        "lost", "doubled", "unfinished", "accepted", "outcome missing", "false claim", "crash", "no account",
    ])
    func `a broken promise is reported`(what: String) {
        let verdict = verdict { tally in
            switch what {
            case "lost": (tally.arrived, tally.distinct) = (98_999, 98_999)
            case "doubled": tally.arrived += 1
            case "unfinished": tally.jobRecord?.isFinished = false
            case "accepted": tally.jobRecord?.accepted -= 1
            case "outcome missing": tally.jobRecord?.failed -= 1
            case "false claim":
                tally.jobRecord?.delivered += 1
                tally.jobRecord?.failed -= 1
            case "crash": tally.crashes = 1
            default: tally.jobRecord = nil
            }
        }
        #expect(!verdict.broken.isEmpty)
    }

    @Test func `counted duplicates miss a bar but break no promise`() {
        let verdict = verdict { tally in
            tally.arrived += 3
            tally.jobRecord?.maybeDuplicated = 3
        }
        #expect(verdict.broken.isEmpty && !verdict.bars[0].isReached)
    }

    @Test func `a slow run misses bars but breaks no promise`() {
        let verdict = verdict { tally in (tally.seconds, tally.mostConnections) = (30.5, 65) }
        #expect(verdict.broken.isEmpty && verdict.bars.count { !$0.isReached } == 2)
    }

    /// 1,056 necessary dials of 3 s on 56 connections take 56.6 s. The other 64 dials are unnecessary.
    @Test(arguments: [(56.6, true), (73.5, true), (73.6, false)])
    func `the time of slow dials is compared with the allowed connections`(seconds: Double, isReached: Bool)
        throws
    {
        let experiment = try #require(Experiment.all.first { $0.dialSeconds == 3 })
        var tally = Self.good()
        (tally.connections, tally.seconds) = (1_120, seconds)
        let bar = ExperimentVerdict(on: tally, experiment).bars.first { $0.text.contains("its dials take") }
        #expect(bar?.isReached == isReached)
    }

    @Test(arguments: [(1.0, true), (1.1, false)])
    func `both protocols are compared by the workers' processor time`(seconds: Double, isReached: Bool) {
        var (farm, other) = (Self.good(), Self.good())
        (farm.workerSeconds, other.workerSeconds) = (seconds, 1.25)
        let verdict = ExperimentVerdict(on: farm, beside: other, Experiment.all[1])
        #expect(verdict.bars.last?.isReached == isReached)
    }
}
