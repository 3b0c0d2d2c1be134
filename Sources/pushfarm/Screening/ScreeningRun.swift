import EventLoop
import FarmLogging
import StoreProtocol

/// Submits the tokens of a file as silent pushes, at a limited rate, and writes down the outcomes.
@Loop final class ScreeningRun {
    struct Plan: Sendable {
        var app: String
        /// The rate in pushes per second.
        var rate: Int
        /// The run ends after this time without progress. The user may start the same command again to
        /// continue the screening.
        var timeout: Duration
    }

    private let client: FarmClient
    private let submitter: JobSubmitter
    private let plan: Plan
    private let survey: TokenSurvey
    private let start = ContinuousClock.now
    private let files: ScreeningFiles
    private var chunks: TokenChunks
    private var tracker: ScreeningTracker
    private var pace: ScreeningPace
    private var progress: ProgressLine
    /// The chunk that is read from the file and not yet submitted.
    private var next: TokenChunks.Chunk?
    private var isAtEnd = false
    /// The position of the last event that was read.
    private var position: String
    /// Whether the last read of the event stream returned all events that existed at that time.
    private var hasCaughtUp = false
    /// Whether Redis was restarted and may have lost jobs, so that the run must submit the open chunks again.
    private var mustResubmit = false
    private var maySubmitAt = ContinuousClock.now
    private var nextCheckAt = ContinuousClock.now
    private var commitsAt = ContinuousClock.now
    /// The time of the last progress.
    private var movedAt = ContinuousClock.now
    /// The reason for missing progress, if it is known.
    private var trouble = ""
    private var pauseReason: String?

    private static let page = 5000
    private static let longestSleep = Duration.milliseconds(100)
    private static let jobRecordPause = Duration.seconds(1)
    private static let commitPause = Duration.milliseconds(500)

    init(
        client: FarmClient, plan: Plan, survey: TokenSurvey, files: ScreeningFiles,
        progress: ProgressLine
    ) {
        (self.client, self.plan, self.survey, self.progress) = (client, plan, survey, progress)
        submitter = JobSubmitter(client: client, app: plan.app, timeout: .zero)
        chunks = TokenChunks(file: files.paths.tokens, survey: survey, size: files.record.chunk)
        tracker = ScreeningTracker(run: files.record.run, done: files.record.done)
        pace = ScreeningPace(rate: plan.rate)
        position = files.record.since
        self.files = files
    }

    var summary: ScreeningSummary {
        ScreeningSummary(
            app: plan.app, survey: survey, tally: files.record.tally, duplicates: chunks.duplicates,
            paths: files.paths, time: .now - start)
    }

    /// Works until all tokens are done or `isEnded` returns true. All results so far are in the files, also after an error.
    func run(until isEnded: @Loop () -> Bool) async throws(CommandFailure) {
        client.redis.onReady = { [unowned self] isOther in mustResubmit = mustResubmit || isOther }
        defer {
            client.redis.onReady = { _ in }
            progress.finish()
        }
        do {
            while !isEnded(), !(isAtEnd && tracker.isEmpty) {
                let pause = try await step()
                progress.update(files.record.tally.count + chunks.duplicates, note: note)
                do { try await Loop.sleep(for: pause) } catch { break }
            }
        } catch {
            try commit()
            throw error
        }
        try commit()
    }

    private var note: String { pauseReason.map { "\(plan.app) is paused: \($0)" } ?? trouble }

    /// - Returns: the time to wait before the next turn.
    private func step() async throws(CommandFailure) -> Duration {
        do {
            if mustResubmit { try await resubmitOpenChunks() }
            try await readEvents()
            if hasCaughtUp {
                closeEnded()
                try await submitChunks()
                try await checkOldestPush()
            }
            try commitWhenDue()
            if tracker.isEmpty, pace.pause(at: .now) > .zero { noteProgress() }
        } catch {
            guard error.status == .temporary else { throw error }
            trouble = error.message
        }
        guard .now - movedAt < plan.timeout else {
            throw .temporary(
                "no progress for \(Figures.time(plan.timeout))" + (note.isEmpty ? "" : " (\(note))")
                    + "; the same command continues from here")
        }
        guard !isAtEnd, next.map(hasRoom) ?? true, .now >= maySubmitAt else { return Self.longestSleep }
        return min(max(pace.pause(at: .now), .milliseconds(1)), Self.longestSleep)
    }

    private func noteProgress() {
        movedAt = .now
        trouble = ""
    }

    // MARK: Submitting jobs

    private func submitChunks() async throws(CommandFailure) {
        var skipped = 0
        while !isAtEnd {
            if next == nil { next = try chunks.next() }
            guard let chunk = next else {
                isAtEnd = true
                return
            }
            if tracker.done.contains(chunk.number) {
                next = nil
                skipped += 1
                // A continued screening may skip many chunks. The function returns after 100 skipped chunks, so that
                // signals are handled.
                if skipped == 100 { return noteProgress() }
                continue
            }
            guard hasRoom(for: chunk), try await submitChunk(chunk) else { return }
            next = nil
        }
    }

    private func hasRoom(for chunk: TokenChunks.Chunk) -> Bool {
        tracker.isEmpty || tracker.openTokens + chunk.tokens.count <= ScreeningPace.ahead(rate: plan.rate)
    }

    /// - Returns: false when the chunk must wait.
    private func submitChunk(_ chunk: TokenChunks.Chunk) async throws(CommandFailure) -> Bool {
        if files.isResumed, try await wasSubmitted(chunk) { return true }
        guard .now >= maySubmitAt, pace.pause(at: .now) == .zero else { return false }
        // The chunk's job is not submitted yet, so earlier events cannot be about this chunk.
        let since = position
        guard try await submit(chunk.number, chunk.tokens) else { return false }
        tracker.open(chunk.number, chunk.tokens, since: since)
        pace.sent(chunk.tokens.count, at: .now)
        noteProgress()
        return true
    }

    /// Whether an earlier process submitted the chunk, according to the farm.
    private func wasSubmitted(_ chunk: TokenChunks.Chunk) async throws(CommandFailure) -> Bool {
        if !tracker.hasEnded(chunk.number) {
            guard let jobRecord = try await client.jobRecord(tracker.id(of: chunk.number), plan.app) else {
                return false
            }
            // The run closes the chunk later, when it has read all events up to now.
            if jobRecord.state == .finished { tracker.ended(chunk.number, delivered: jobRecord.delivered) }
        }
        tracker.open(chunk.number, chunk.tokens, since: files.record.since)
        noteProgress()
        return true
    }

    private func submit(_ chunk: Int, _ tokens: [String]) async throws(CommandFailure) -> Bool {
        let job = tracker.job(of: chunk, tokens)
        switch try await submitter.submit(job) {
        case .accepted, .duplicate: return true
        case .busy(let pause, let reason):
            trouble = FullReason.words(reason, plan.app)
            maySubmitAt = .now + pause
            return false
        case .refused(let reason): throw .failed("job \(job.id) would be refused: \(reason)")
        }
    }

    /// Submits the jobs of open chunks again. The farm accepts the jobs that Redis has lost. It ignores all
    /// other jobs, because they are duplicates.
    private func resubmitOpenChunks() async throws(CommandFailure) {
        guard .now >= maySubmitAt else { return }
        for chunk in tracker.open {
            guard try await submit(chunk, tracker.tokens(of: chunk)) else { return }
        }
        mustResubmit = false
    }

    // MARK: Reading outcomes

    private func readEvents() async throws(CommandFailure) {
        hasCaughtUp = false
        for _ in 0..<20 {
            let events = try await client.entries(
                of: .events(plan.app), .after(EntryID(Array(position.utf8))), count: Self.page)
            for event in events { try handle(event) }
            if let last = events.last { position = last.id.description }
            guard events.count == Self.page else {
                hasCaughtUp = true
                return
            }
        }
    }

    private func handle(_ event: EventEntry) throws(CommandFailure) {
        switch tracker.record({ event[$0] }) {
        case .nothing: break
        case .outcome: noteProgress()
        case .refused(let chunk, let reason):
            throw .failed("job \(tracker.id(of: chunk)) was refused: \(reason)")
        }
    }

    private func closeEnded() {
        for chunk in tracker.open {
            for (token, verdict) in tracker.close(chunk) ?? [] { files.add(token, verdict) }
        }
    }

    /// Reads the job record of the oldest open job, in case the run missed the event of its end.
    private func checkOldestPush() async throws(CommandFailure) {
        guard .now >= nextCheckAt, let oldest = tracker.open.first, !tracker.hasEnded(oldest) else { return }
        nextCheckAt = .now + Self.jobRecordPause
        pauseReason = try await client.call(ReadAppState(), plan.app).pause?.reason
        guard let jobRecord = try await client.jobRecord(tracker.id(of: oldest), plan.app),
            jobRecord.state == .finished
        else { return }
        // The run closes the chunk later, when it has read all events up to now.
        tracker.ended(oldest, delivered: jobRecord.delivered)
        nextCheckAt = .now
        noteProgress()
    }

    private func commitWhenDue() throws(CommandFailure) {
        guard .now >= commitsAt else { return }
        commitsAt = .now + Self.commitPause
        try commit()
    }

    private func commit() throws(CommandFailure) {
        guard tracker.done != files.record.done else { return }
        let since = tracker.hasUnknownChunks ? files.record.since : tracker.since ?? position
        try files.commit(done: tracker.done, since: since)
    }
}
