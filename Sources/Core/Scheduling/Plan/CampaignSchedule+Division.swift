extension CampaignSchedule {
    /// The schedule with all devices in one stage.
    package var withoutStages: CampaignSchedule {
        CampaignSchedule(
            start: start, window: window, unchecked: spread, avoid: avoid, quiet: quiet, stages: [],
            repetition: repetition, cohorts: cohorts)
    }

    /// The schedule with all durations divided by a factor: the time between two rounds, the duration of the spread, and the
    /// waits between stages. Tests and demonstrations use it to play a night in minutes. Times of day do not change.
    ///
    /// - Parameter factor: 1 or more.
    package func divided(by factor: Double) -> CampaignSchedule {
        guard factor > 1 else { return self }
        func divided(_ milliseconds: Int64) -> Int64 {
            max(1, Int64(clamping: (Double(milliseconds) / factor).rounded()))
        }
        var spread = spread
        if case .over(let milliseconds) = spread { spread = .over(milliseconds: divided(milliseconds)) }
        let stages = stages.map { stage in
            guard case .wait(let milliseconds) = stage.gate else { return stage }
            return Stage(share: stage.share, gate: .wait(milliseconds: divided(milliseconds)))
        }
        let repetition = repetition.map { Repetition(every: divided($0.every), max: $0.max) }
        return CampaignSchedule(
            start: start, window: window, unchecked: spread, avoid: avoid, quiet: quiet,
            stages: stages, repetition: repetition, cohorts: cohorts)
    }
}
