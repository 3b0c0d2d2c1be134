import EventLoop
import PushModel
import StoreProtocol

/// Pauses and resumes apps, jobs, shards and tokens for an operator, and ends quarantines.
@Loop struct OperatorPause {
    let client: FarmClient
    let isDryRun: Bool

    func pause(_ target: PauseTarget, reason: String) async throws(CommandFailure) -> ChangeReport.Line {
        let change: ChangePauses.Change
        switch target {
        case .app(let app): return try await pause(app: app, reason: reason)
        case .job(let job, _): change = .job(job, .pause)
        case .shard(let shard, _):
            try await check(shard)
            change = .shard(shard, .pause)
        case .token(let token, _):
            let shard = ShardHash.shard(of: token, shards: try await client.shards())
            change = .token(token, shard: shard)
        }
        let old = try await item(of: target)
        let reply =
            try await isDryRun
            ? preview(target, old)
            : client.call(ChangePauses(change, by: OperatorName.current, reason: reason), target.app)
        let isExpected = reply.jobState == .expected
        var text = isExpected ? "will be paused when it leaves the inbox" : "is paused"
        var more: [JSONValue.Field] = []
        switch target {
        case .job(let job, let app):
            switch reply.jobState {
            case .unknown: throw try await client.noJob(job, in: [app])
            case .finished: throw .failed("job \(job) of \(app) is finished")
            case .full: throw .failed("\(app) already has 1000 paused jobs; resume some of them first")
            case .open, .expected, .none: break
            }
            if !reply.hasChanged { text = "was paused already (\(Self.words(reply.before)))" }
            more = [.init(name: "expected", value: .bool(isExpected))]
        case .shard where !reply.hasChanged:
            text = "was paused already, by \(old?.by ?? "another user")"
        case .token(_, let app):
            if reply.jobState == .full {
                throw .failed("\(app) already has 1000 paused tokens; resume some of them first")
            }
            if !reply.hasChanged { text = "was paused already" }
        case .app, .shard: break
        }
        return .init(target: target, changed: reply.hasChanged, text: text, more: more)
    }

    private func pause(app: String, reason: String) async throws(CommandFailure) -> ChangeReport.Line {
        let by = OperatorName.current
        var pause = try await client.call(ReadAppState(), app).pause
        // If the farm itself has paused the app, this pause becomes a pause by the operator.
        var changed = pause?.by == nil
        if changed, !isDryRun {
            let text = "by operator \(by)" + (reason.isEmpty ? "" : ": \(reason)")
            changed = try await client.call(PauseApp(reason: text, by: by), app)
            pause = try await client.call(ReadAppState(), app).pause
        }
        return .init(
            target: .app(app), changed: changed,
            text: changed ? "is paused" : "was paused already, \(pause?.reason ?? "")",
            more: [.init(name: "reason", value: .text(pause?.reason))])
    }

    func resume(_ target: PauseTarget) async throws(CommandFailure) -> ChangeReport.Line {
        if case .app(let app) = target { return try await resume(app: app) }
        if case .shard(let shard, _) = target { try await check(shard) }
        let item = try await item(of: target)
        var changed = item != nil
        var more: [JSONValue.Field] = []
        switch target {
        case .app: break
        case .shard(let shard, let app):
            if !isDryRun {
                changed = try await client.call(ChangePauses(.resumeShard(shard), by: ""), app).hasChanged
            }
        case .job(let job, let app):
            guard let item else { break }
            guard item.kind == "pause" else {
                throw .failed(
                    "job \(job) of \(app) is in quarantine (\(item.kind)): pushfarm resume --quarantined --job \(job) --app \(app)"
                )
            }
            more = [try await release(.pausedJob(job), app)]
        case .token(let token, let app):
            more = [try await release(.token(token), app)]
        }
        return .init(
            target: target, changed: changed, text: changed ? "is resumed" : "was not paused", more: more)
    }

    private func resume(app: String) async throws(CommandFailure) -> ChangeReport.Line {
        var changed = try await client.call(ReadAppState(), app).pause != nil
        if !isDryRun { changed = try await client.call(ResumeApp(), app) == .resumed }
        var text = changed ? "is resumed" : "was not paused"
        let shards = try await client.pauses(.shards, app).map { "\($0.shardNumber)" }
        if !shards.isEmpty {
            text += "; shards still paused, resume them with --shard: \(shards.joined(separator: ", "))"
        }
        let jobs = try await client.pauses(.jobs, app).filter { $0.kind == "pause" }
        if let first = jobs.first {
            let others = jobs.count > 1 ? " and \(jobs.count - 1) more" : ""
            text +=
                "; jobs still paused, resume them by name: \(PlainText.of(first.text, limit: 40))\(others)"
        }
        return .init(target: .app(app), changed: changed, text: text)
    }

    /// Returns quarantined work to the queues: one job with its batches, or all jobs, tokens and batches of an app.
    func endQuarantine(_ target: PauseTarget) async throws(CommandFailure) -> ChangeReport.Line {
        let app = target.app
        guard case .job(let job, _) = target else {
            let marked = try await client.pauses(.jobs, app).count { $0.kind != "pause" }
            let (jobs, tokens, batches) = try await isDryRun ? (marked, 0, 0) : client.release(.all, app)
            let parts = [(jobs, "job", "jobs"), (tokens, "token", "tokens"), (batches, "batch", "batches")]
                .filter { $0.0 > 0 }.map { Figures.counted($0.0, $0.1, $0.2) }
            return .init(
                target: target, changed: !parts.isEmpty,
                text: parts.isEmpty
                    ? "has nothing to release from quarantine" : "resumed: " + parts.joined(separator: ", "),
                more: [
                    .init(name: "jobs", value: .number(jobs)), .init(name: "tokens", value: .number(tokens)),
                    .init(name: "batches", value: .number(batches)),
                ])
        }
        let item = try await item(of: target)
        guard item?.kind != "pause" else {
            throw .failed(
                "job \(job) of \(app) is paused, not quarantined: pushfarm resume --job \(job) --app \(app)")
        }
        let batches = try await release(.job(job), app)
        let changed = item != nil || batches.value != .number(0)
        return .init(
            target: target, changed: changed, text: changed ? "is resumed" : "was not quarantined",
            more: [batches])
    }

    /// Tells the coordinators to serve their quarantined shards again.
    func endShardQuarantines() async throws(CommandFailure) {
        guard !isDryRun else { return }
        try await client.announce(.quarantineEnded)
        try await client.announce(.refresh)
    }

    /// Returns batches to their queues. The result is a field with the number of batches.
    private func release(
        _ what: ResumePaused.Selection, _ app: String
    ) async throws(CommandFailure) -> JSONValue.Field {
        .init(name: "batches", value: .number(isDryRun ? 0 : try await client.release(what, app).batches))
    }

    private func check(_ shard: Int) async throws(CommandFailure) {
        let count = try await client.shards()
        guard shard < count else { throw .usage("the farm has only the shards 0 to \(count - 1)") }
    }

    /// The pause or quarantine of a job, shard or token.
    private func item(of target: PauseTarget) async throws(CommandFailure) -> ReadPauses.Item? {
        switch target {
        case .app: nil
        case .shard(let shard, let app):
            try await client.pauses(.shards, app).first { $0.shardNumber == shard }
        case .job(let job, let app): try await client.pauses(.jobs, app).first { $0.text == job }
        case .token(let token, let app): try await client.pauses(.tokens, app).first { $0.name == token }
        }
    }

    /// The result that a pause would have, for `--dry-run`.
    private func preview(
        _ target: PauseTarget, _ old: ReadPauses.Item?
    ) async throws(CommandFailure) -> ChangePauses.Reply {
        var jobState = ChangePauses.JobState.none
        if case .job(let job, let app) = target {
            if let state = try await client.jobRecord(job, app)?.state {
                jobState = state == .open ? .open : .finished
            } else {
                jobState = try await client.hasWaitingJobs(app) ? .expected : .unknown
            }
        }
        return ChangePauses.Reply(
            hasChanged: old == nil, jobState: jobState,
            before: old.map { "\($0.since) \($0.kind) \($0.by)" } ?? "")
    }

    /// The kind and the operator of a stored pause, as in `pause by ann@ops-1`.
    private static func words(_ item: String) -> String {
        let words = item.split(separator: " ", maxSplits: 2).dropFirst()
        return words.isEmpty ? "poison" : words.joined(separator: " by ")
    }
}

extension FarmClient {
    /// The paused, quarantined or cancelled jobs, tokens or shards of an app, the oldest first.
    func pauses(_ kind: ReadPauses.Kind, _ app: String) async throws(CommandFailure) -> [ReadPauses.Item] {
        let request = ReadPauses(kind)
        return request.pauses(try await call(request, app)).map { item in
            var item = item
            // Only operators pause tokens.
            if kind == .tokens { item.kind = "pause" }
            return item
        }
    }

    /// Returns quarantined or paused batches to their queues, some batches at a time.
    fileprivate func release(_ what: ResumePaused.Selection, _ app: String) async throws(CommandFailure) -> (
        jobs: Int, tokens: Int, batches: Int
    ) {
        var (jobs, tokens, batches) = (0, 0, 0)
        var next: Int? = 0
        while let start = next {
            let reply = try await call(ResumePaused(what, start: start), app)
            jobs += reply.jobs
            tokens += reply.tokens
            batches += reply.batches
            next = reply.next
        }
        return (jobs, tokens, batches)
    }
}

extension ReadPauses.Item {
    /// The number of a shard. The stored name of a shard may begin with zeros.
    var shardNumber: Int { Int(foreign: text) ?? -1 }

    /// The action with the operator and the reason: `paused by ann@ops-1: a reason`.
    var words: String {
        let past = kind == "pause" ? "paused" : kind
        return past + (by.isEmpty ? "" : " by \(by)") + (reason.isEmpty ? "" : ": \(reason)")
    }
}
