/// The result of one sender in one experiment. The gateway counts delivered, refused and discarded pushes, and
/// connections.
package struct Tally: Codable, Sendable, Hashable {
    /// The sum of the farm's job records.
    package struct JobRecord: Codable, Sendable, Hashable {
        package var accepted = 0
        package var delivered = 0
        package var failed = 0
        package var expired = 0
        package var cancelled = 0
        package var maybeDuplicated = 0
        /// Whether all jobs are finished.
        package var isFinished = false

        package init(
            accepted: Int = 0, delivered: Int = 0, failed: Int = 0, expired: Int = 0, cancelled: Int = 0,
            maybeDuplicated: Int = 0, isFinished: Bool = false
        ) {
            (self.accepted, self.delivered, self.failed) = (accepted, delivered, failed)
            (self.expired, self.cancelled) = (expired, cancelled)
            (self.maybeDuplicated, self.isFinished) = (maybeDuplicated, isFinished)
        }
    }

    package var experiment: String
    package var sender: String
    /// The number of good tokens in the list.
    package var good: Int
    /// The number of bad tokens in the list.
    package var bad: Int
    /// The number of good tokens in the part of the list that was sent.
    package var goodSent: Int
    /// The number of bad tokens in the part of the list that was sent.
    package var badSent: Int
    /// The number of pushes that the gateway accepted.
    package var arrived: Int
    /// The number of different tokens in the accepted pushes.
    package var distinct: Int
    package var discarded: Int
    /// The number of bad tokens that the sender has found.
    package var found: Int
    /// The number of pushes that the sender believes to be delivered.
    package var claimed: Int
    package var connections: Int
    package var mostConnections: Int
    package var seconds: Double
    /// The sum of the job records, for the farm only.
    package var jobRecord: JobRecord?
    /// The number of processes that ended by an unexpected signal.
    package var crashes: Int?
    /// The processor seconds of the farm's workers.
    package var workerSeconds: Double?

    package var isExtrapolated: Bool { goodSent + badSent < good + bad }
    package var lost: Int { goodSent - distinct }
    package var doubled: Int { arrived - distinct }
    /// The number of pushes that the workers send in a second of processor time.
    package var ratePerCore: Double? { workerSeconds.map { Double(arrived) / max($0, 1e-9) } }

    /// The extrapolated result for the whole list. Losses and connections scale with the bad tokens, time with all tokens.
    package var whole: Tally {
        guard isExtrapolated else { return self }
        let byLength = Double(good + bad) / Double(max(1, goodSent + badSent))
        let byBad = badSent > 0 ? Double(bad) / Double(badSent) : byLength
        func scale(_ count: Int, _ factor: Double) -> Int { Int((Double(count) * factor).rounded()) }
        var whole = self
        (whole.goodSent, whole.badSent) = (good, bad)
        whole.distinct = good - min(good, scale(lost, byBad))
        whole.arrived = whole.distinct + scale(doubled, byLength)
        whole.found = scale(found, byBad)
        whole.claimed = good + bad - whole.found - scale(goodSent + badSent - claimed - found, byLength)
        whole.connections = 1 + scale(connections - 1, byBad)
        whole.seconds = seconds * byLength
        return whole
    }

    /// An empty result for the first `length` tokens of a list.
    package init(_ tokens: ExperimentTokens, experiment: String, sender: String, length: Int) {
        self.experiment = experiment
        self.sender = sender
        bad = tokens.badCount(among: tokens.count)
        good = tokens.count - bad
        badSent = tokens.badCount(among: length)
        goodSent = length - badSent
        (arrived, distinct, discarded, found, claimed) = (0, 0, 0, 0, 0)
        (connections, mostConnections, seconds) = (0, 0, 0)
    }
}

extension Tally {
    init(
        _ experiment: Experiment, sender: String, length: Int, _ count: SimulatorCount.Side,
        claim: HistoricSender.Claim
    ) {
        self.init(experiment.tokens, experiment: experiment.letter, sender: sender, length: length)
        arrived = count.accepted
        distinct = count.distinctTokens ?? 0
        discarded = count.discarded ?? 0
        connections = count.connections
        mostConnections = count.mostConnections ?? 0
        (found, claimed, seconds) = (claim.refused, claim.sent, claim.seconds)
    }
}
