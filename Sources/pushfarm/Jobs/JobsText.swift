import StoreProtocol

/// Lists of jobs for people.
struct JobsText {
    /// Unix milliseconds of Redis's clock.
    let now: Int64
    let style: TextStyle

    func list(_ jobRecords: [JobRecord]) -> String {
        guard !jobRecords.isEmpty else { return "no jobs\n" }
        var table = Table([
            "JOB": .left, "APP": .left, "STATE": .left, "AGE": .right, "ACCEPTED": .right, "FAILED": .right,
            "OPEN": .right,
        ])
        for jobRecord in jobRecords {
            table.add(
                .init(jobRecord.id), .init(jobRecord.app),
                jobRecord.parked == nil
                    ? .init(jobRecord.state.rawValue, jobRecord.state == .open ? .yellow : nil)
                    : .init("paused", .red),
                .init(Figures.brief(.milliseconds(max(0, now - jobRecord.createdAt)))),
                .init(Figures.short(jobRecord.accepted)),
                .init(Figures.short(jobRecord.failed), jobRecord.failed > 0 ? .red : nil),
                .init(Figures.short(jobRecord.accepted - jobRecord.settled)))
        }
        return table.text(style)
    }

    /// With a line for each job whose pushes are delayed.
    func running(_ jobs: [RunningJobs.Job], stuck: Bool) -> String {
        guard !jobs.isEmpty else { return stuck ? "no job is stuck\n" : "no job is running\n" }
        var table = Table([
            "JOB": .left, "APP": .left, "STATE": .left, "DONE": .right, "OPEN": .right, "DELAYED": .right,
            "RATE": .right, "LEFT": .right,
        ])
        for job in jobs {
            let jobRecord = job.jobRecord
            let share = jobRecord.accepted > 0 ? jobRecord.settled * 100 / jobRecord.accepted : 100
            table.add(
                .init(jobRecord.id), .init(jobRecord.app), state(of: job), .init("\(share) %"),
                .init(Figures.short(jobRecord.accepted - jobRecord.settled)),
                .init(Figures.short(jobRecord.waiting)),
                .init("\(Figures.short(Int(clamping: job.rate.rounded())))/s"),
                .init(job.isDelayed ? "-" : job.remaining.map { Figures.brief($0) } ?? "-"))
        }
        let delays = jobs.compactMap { job in
            job.delay.map { "\(PlainText.of(job.jobRecord.id)): \($0.text(at: now))\n" }
        }
        return table.text(style) + delays.joined()
    }

    private func state(of job: RunningJobs.Job) -> Table.Cell {
        if job.jobRecord.parked != nil { return .init("paused", .red) }
        if job.isPaused { return .init("paused", .yellow) }
        if job.isQuiet, job.rate == 0 { return .init("quiet host", .red) }
        return job.isDelayed ? .init("delayed", .yellow) : .init("running")
    }
}
