import BenchKit

extension BenchFarm {
    /// The cost of a measured action.
    struct Run {
        /// When the action started, in milliseconds since 1970 by Redis's clock.
        let startedAt: Double
        let use: Use
        /// The share of the cores that the measured processes used.
        let fullness: Double
        /// The share of the cores that other processes used.
        let shareOfOthers: Double
    }

    func measure(_ cores: Cores, _ work: () async throws -> Void) async throws -> Run {
        let (cpu, before) = (CoreUse.now(of: cores), use())
        let startedAt = try redisTime()
        try await work()
        let used = use() - before
        let now = CoreUse.now(of: cores)
        return Run(
            startedAt: startedAt, use: used, fullness: now.share(of: used.all, since: cpu),
            shareOfOthers: now.shareOfOthers(since: cpu, ours: used.all))
    }
}

extension Round {
    /// Adds the processor time of each process, in microseconds a push.
    mutating func add(_ run: BenchFarm.Run, pushes: Int) {
        func each(_ seconds: Double) -> Double { seconds / Double(pushes) * 1e6 }
        self["worker"] = each(run.use.workers)
        self["coordinator"] = each(run.use.coordinator)
        self["intake"] = each(run.use.intake)
        self["feeding"] = each(run.use.coordinator + run.use.intake)
        self["redis"] = each(run.use.redis)
        self["gateway"] = each(run.use.gateway)
        self["fullness"] = run.fullness
        shareOfOthers = max(shareOfOthers, run.shareOfOthers)
    }
}
