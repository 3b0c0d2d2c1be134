import BenchKit

/// Checks whether the farm kept its promises and reached its targets in an experiment.
package struct ExperimentVerdict: Codable, Sendable, Hashable {
    package struct Bar: Codable, Sendable, Hashable {
        package let text: String
        package let isReached: Bool
    }

    /// The promises that the farm broke. Each broken promise is an error.
    package let broken: [String]
    /// The performance targets, which depend on the machine.
    package let bars: [Bar]

    /// - Parameter other: the result of the same experiment over HTTP/2, if it was measured.
    package init(on farm: Tally, beside other: Tally? = nil, _ experiment: Experiment) {
        broken = Self.broken(farm)
        var bars: [Bar] = []
        if !experiment.allowsDoubles {
            bars.append(
                Bar(text: "every good one exactly once", isReached: farm.lost == 0 && farm.doubled == 0))
        } else {
            bars.append(
                Bar(
                    text: "doubled \(farm.doubled.grouped), unknown at the time \(farm.maybe.grouped)",
                    isReached: farm.lost == 0 && farm.doubled <= farm.maybe))
        }
        if farm.bad > 0 {
            bars.append(
                Bar(text: "\(farm.found.grouped) bad ones reported", isReached: farm.found == farm.bad))
        }
        if let limit = experiment.longest {
            bars.append(Bar(text: "within \(Int(limit)) s", isReached: farm.seconds <= limit))
        }
        if let dial = experiment.dialSeconds {
            // The allowed dials: one for each bad token, and one for each connection. Further dials are
            // unnecessary and do not raise the time limit.
            let dials = min(farm.connections, farm.bad + Experiment.usualConnections)
            let least = Double(dials) * dial / Double(Experiment.usualConnections)
            let ratio = farm.seconds / max(least, 1e-9)
            bars.append(
                Bar(
                    text: "\(ratio.text) times what its dials take, at most 1.30 wanted",
                    isReached: ratio <= 1.3))
        }
        if let most = experiment.mostConnections {
            bars.append(
                Bar(text: "at most \(most) connections at a time", isReached: farm.mostConnections <= most))
        }
        if let other, let rate = farm.ratePerCore, let otherRate = other.ratePerCore {
            let ratio = rate / otherRate
            bars.append(
                Bar(
                    text: "\(Int(rate).grouped)/s a worker core, HTTP/2 \(Int(otherRate).grouped)/s: "
                        + "\(ratio.text) times, at least 1.20 wanted",
                    isReached: ratio >= 1.2))
        } else if let rate = farm.ratePerCore, farm.arrived >= 100_000 {
            bars.append(Bar(text: "\(Int(rate).grouped)/s a worker core", isReached: true))
        }
        self.bars = bars
    }

    private static func broken(_ farm: Tally) -> [String] {
        guard let jobRecord = farm.jobRecord else { return ["no job record"] }
        var broken: [String] = []
        if farm.lost > 0 { broken.append("\(farm.lost) lost") }
        if farm.doubled > jobRecord.maybeDuplicated {
            broken.append("\(farm.doubled) doubled, \(jobRecord.maybeDuplicated) of which it knew")
        }
        if let crashes = farm.crashes, crashes > 0 { broken.append("\(crashes) processes crashed") }
        if !jobRecord.isFinished { broken.append("jobs are not finished") }
        let outcomes = jobRecord.delivered + jobRecord.failed + jobRecord.expired + jobRecord.cancelled
        if jobRecord.accepted != farm.good + farm.bad || outcomes != jobRecord.accepted {
            broken.append("\(jobRecord.accepted) accepted, \(outcomes) outcomes of \(farm.good + farm.bad)")
        }
        if jobRecord.delivered != farm.good || jobRecord.failed != farm.bad {
            broken.append("\(jobRecord.delivered) counted as delivered, \(jobRecord.failed) as failed")
        }
        return broken
    }
}

extension Tally {
    fileprivate var maybe: Int { jobRecord?.maybeDuplicated ?? 0 }
}
