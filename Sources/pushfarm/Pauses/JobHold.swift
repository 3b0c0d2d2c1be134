import EventLoop
import StoreProtocol

/// Pauses and resumes a job.
@Loop struct JobHold {
    let client: FarmClient
    var isDryRun = false

    func pause(
        _ job: String, _ app: String, reason: String
    ) async throws(CommandFailure) -> ChangeReport.Line {
        let reply =
            try await isDryRun
            ? preview(job, app)
            : client.call(
                Hold(.job(job, .pause), by: OperatorName.current, reason: reason), app)
        switch reply.subject {
        case .unknown: throw try await client.noJob(job, in: [app])
        case .finished: throw .failed("job \(job) of \(app) is finished")
        case .full: throw .failed("\(app) has 1000 paused jobs already: resume some")
        case .open, .expected, .none: break
        }
        let isExpected = reply.subject == .expected
        let text =
            reply.hasChanged
            ? isExpected ? "will be paused when it leaves the inbox" : "is paused"
            : "was paused already (\(Self.words(reply.before)))"
        return ChangeReport.Line(
            app: app, job: job, changed: reply.hasChanged, text: text,
            more: [.init(name: "expected", value: .bool(isExpected))])
    }

    /// Resumes a job that an operator has paused.
    func resume(_ job: String, _ app: String) async throws(CommandFailure) -> ChangeReport.Line {
        guard let mark = try await mark(of: job, app) else {
            return .init(app: app, job: job, changed: false, text: "was not paused")
        }
        guard mark.kind == "pause" else {
            throw .failed(
                "job \(job) of \(app) is in quarantine (\(mark.kind)): pushfarm resume --quarantined --job \(job) --app \(app)"
            )
        }
        var batches = 0
        if !isDryRun {
            batches = try await client.release(.pausedJob(job), app).batches
        }
        return .init(
            app: app, job: job, changed: true, text: "is resumed",
            more: [.init(name: "batches", value: .number(batches))])
    }

    func mark(of job: String, _ app: String) async throws(CommandFailure) -> ReadMarks.Mark? {
        try await client.marks(.jobs, app).first { $0.text == job }
    }

    private func preview(_ job: String, _ app: String) async throws(CommandFailure) -> Hold.Reply {
        let old = try await mark(of: job, app)
        let state = try await client.jobRecord(job, app)?.state
        var subject: Hold.Subject = state.map { $0 == .open ? .open : .finished } ?? .unknown
        if state == nil {
            let depths = try await client.call(ReadDepths(shards: 0), app)
            if depths.inbox + depths.taken > 0 { subject = .expected }
        }
        return Hold.Reply(
            hasChanged: old == nil, subject: subject,
            before: old.map { "\($0.since) \($0.kind) \($0.by)" } ?? "")
    }

    /// A mark in words.
    private static func words(_ mark: String) -> String {
        let words = mark.split(separator: " ", maxSplits: 2).dropFirst()
        return words.isEmpty ? "poison" : words.joined(separator: " by ")
    }
}

extension FarmClient {
    /// Paused, quarantined or cancelled jobs, tokens and shards of an app, the oldest first.
    func marks(_ kind: ReadMarks.Kind, _ app: String) async throws(CommandFailure) -> [ReadMarks.Mark] {
        let request = ReadMarks(kind)
        return request.marks(try await call(request, app)).map { mark in
            var mark = mark
            // Only operators pause tokens.
            if kind == .devices { mark.kind = "pause" }
            return mark
        }
    }

    /// Returns quarantined or paused batches to their queues, a portion at a time.
    func release(_ what: Release.What, _ app: String) async throws(CommandFailure) -> (
        jobs: Int, devices: Int, batches: Int
    ) {
        var (jobs, devices, batches) = (0, 0, 0)
        var next: Int? = 0
        while let start = next {
            let reply = try await call(Release(what, start: start), app)
            jobs += reply.jobs
            devices += reply.devices
            batches += reply.batches
            next = reply.next
        }
        return (jobs, devices, batches)
    }
}
