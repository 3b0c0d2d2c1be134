/// The result of one sender in one experiment; delivered, refused, discarded and connections are the gateway's counts.
package struct Tally: Codable, Sendable, Hashable {
    /// The farm's counts of its jobs.
    package struct JobRecord: Codable, Sendable, Hashable {
        package var accepted = 0
        package var delivered = 0
        package var failed = 0
        package var expired = 0
        package var cancelled = 0
        package var maybeDuplicated = 0
        /// All jobs are finished.
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
    /// Good and bad tokens of the list, and of the part of it that was sent.
    package var good: Int
    package var bad: Int
    package var goodSent: Int
    package var badSent: Int
    /// Pushes that the gateway accepted, and the different tokens among them.
    package var arrived: Int
    package var distinct: Int
    package var discarded: Int
    /// Bad tokens that the sender knows at the end.
    package var found: Int
    /// Pushes that the sender believes to be delivered.
    package var claimed: Int
    package var connections: Int
    package var mostConnections: Int
    package var seconds: Double
    /// Of the farm only.
    package var jobRecord: JobRecord?
    /// Processes that ended by an unexpected signal.
    package var crashes: Int?
    /// Processor seconds of its workers.
    package var workerSeconds: Double?

    package var isExtrapolated: Bool { goodSent + badSent < good + bad }
    package var lost: Int { goodSent - distinct }
    package var doubled: Int { arrived - distinct }
    /// Pushes a second of a processor that is all the workers'.
    package var ratePerCore: Double? { workerSeconds.map { Double(arrived) / max($0, 1e-9) } }

    /// What it would be with the whole list: bad tokens cost losses and connections, and all tokens cost time.
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

    /// A list of which the first `length` were sent.
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
