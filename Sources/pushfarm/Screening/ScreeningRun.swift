import EventLoop
import FarmLogging
import StoreProtocol

/// Puts a file's tokens into the farm as silent pushes, no faster than wanted, and writes down what becomes of them.
@Loop final class ScreeningRun {
    struct Plan: Sendable {
        var app: String
        /// Pushes a second.
        var rate: Int
        /// It ends after so long without progress; the same command continues.
        var patience: Duration
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
    /// Read from the file, and not yet put in.
    private var next: TokenChunks.Chunk?
    private var isAtEnd = false
    /// How far events were read.
    private var position: String
    /// Whether all events up to now were read at the last look.
    private var hasCaughtUp = false
    /// Redis is another process than before: it may have forgotten jobs.
    private var mustOfferAgain = false
    private var mayOfferAt = ContinuousClock.now
    private var looksAt = ContinuousClock.now
    private var commitsAt = ContinuousClock.now
    /// When something last went on.
    private var movedAt = ContinuousClock.now
    /// Why there is no progress, if that is known.
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

    /// Works until all is done, or `isEnded` says so; what is found out by then is in the files, also when it throws.
    func run(until isEnded: @Loop () -> Bool) async throws(CommandFailure) {
        client.redis.onReady = { [unowned self] isOther in mustOfferAgain = mustOfferAgain || isOther }
        defer {
            client.redis.onReady = { _ in }
            progress.finish()
        }
        do {
            while !isEnded(), !(isAtEnd && tracker.isEmpty) {
                let pause = try await turn()
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

    /// - Returns: how long to wait before the next one.
    private func turn() async throws(CommandFailure) -> Duration {
        do {
            if mustOfferAgain { try await offerAgain() }
            try await readEvents()
            if hasCaughtUp {
                closeEnded()
                try await putIn()
                try await checkOldestPush()
            }
            try commitWhenDue()
            if tracker.isEmpty, pace.pause(at: .now) > .zero { moved() }
        } catch {
            guard error.status == .temporary else { throw error }
            trouble = error.message
        }
        guard .now - movedAt < plan.patience else {
            throw .temporary(
                "no progress for \(Figures.time(plan.patience))" + (note.isEmpty ? "" : " (\(note))")
                    + "; the same command continues from here")
        }
        guard !isAtEnd, next.map(hasRoom) ?? true, .now >= mayOfferAt else { return Self.longestSleep }
        return min(max(pace.pause(at: .now), .milliseconds(1)), Self.longestSleep)
    }

    private func moved() {
        movedAt = .now
        trouble = ""
    }

    // MARK: Jobs in

    private func putIn() async throws(CommandFailure) {
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
                // A long way to where it stopped: signals are heard in between.
                if skipped == 100 { return moved() }
                continue
            }
            guard hasRoom(for: chunk), try await put(chunk) else { return }
            next = nil
        }
    }

    private func hasRoom(for chunk: TokenChunks.Chunk) -> Bool {
        tracker.isEmpty || tracker.openTokens + chunk.tokens.count <= ScreeningPace.ahead(rate: plan.rate)
    }

    /// - Returns: false when it has to wait.
    private func put(_ chunk: TokenChunks.Chunk) async throws(CommandFailure) -> Bool {
        if files.isResumed, try await wasPut(chunk) { return true }
        guard .now >= mayOfferAt, pace.pause(at: .now) == .zero else { return false }
        // What comes from now on is about it.
        let since = position
        guard try await submit(chunk.number, chunk.tokens) else { return false }
        tracker.open(chunk.number, chunk.tokens, since: since)
        pace.sent(chunk.tokens.count, at: .now)
        moved()
        return true
    }

    /// Whether an earlier process put the chunk in, as far as the farm knows of it.
    private func wasPut(_ chunk: TokenChunks.Chunk) async throws(CommandFailure) -> Bool {
        if !tracker.hasEnded(chunk.number) {
            guard let jobRecord = try await client.jobRecord(tracker.id(of: chunk.number), plan.app) else {
                return false
            }
            // It is closed when the events until now are read.
            if jobRecord.state == .finished { tracker.ended(chunk.number, delivered: jobRecord.delivered) }
        }
        tracker.open(chunk.number, chunk.tokens, since: files.record.since)
        moved()
        return true
    }

    private func submit(_ chunk: Int, _ tokens: [String]) async throws(CommandFailure) -> Bool {
        let id = tracker.id(of: chunk)
        let draft = JobDraft(
            id: id, tokens: tokens.map { $0[...] }, payload: #"{"aps":{"content-available":1}}"#,
            fields: [
                ("push_type", .string("background")), ("priority", .number(5)), ("ttl", .number(0)),
                ("lane", .string("bulk")),
            ])
        switch try await submitter.submit(SubmitJob(job: Array(draft.text.utf8), id: id)) {
        case .accepted, .duplicate: return true
        case .busy(let pause, let reason):
            trouble = FullReason.words(reason, plan.app)
            mayOfferAt = .now + pause
            return false
        case .refused(let reason): throw .failed("job \(id) would be refused: \(reason)")
        }
    }

    /// Of the open jobs, those that Redis has forgotten come again; the others are duplicates.
    private func offerAgain() async throws(CommandFailure) {
        guard .now >= mayOfferAt else { return }
        for chunk in tracker.open {
            guard try await submit(chunk, tracker.tokens(of: chunk)) else { return }
        }
        mustOfferAgain = false
    }

    // MARK: Outcomes out

    private func readEvents() async throws(CommandFailure) {
        hasCaughtUp = false
        for _ in 0..<20 {
            let events = try await client.entries(
                of: .events(plan.app), .after(EntryID(Array(position.utf8))), count: Self.page)
            for event in events { try hear(event) }
            if let last = events.last { position = last.id.description }
            guard events.count == Self.page else {
                hasCaughtUp = true
                return
            }
        }
    }

    private func hear(_ event: EventEntry) throws(CommandFailure) {
        switch tracker.hear({ event[$0] }) {
        case .nothing: break
        case .outcome: moved()
        case .refused(let chunk, let reason):
            throw .failed("job \(tracker.id(of: chunk)) was refused: \(reason)")
        }
    }

    private func closeEnded() {
        for chunk in tracker.open {
            for (token, verdict) in tracker.close(chunk) ?? [] { files.add(token, verdict) }
        }
    }

    /// An end whose event was not seen, because the events went on too fast, is in the job record.
    private func checkOldestPush() async throws(CommandFailure) {
        guard .now >= looksAt, let oldest = tracker.open.first, !tracker.hasEnded(oldest) else { return }
        looksAt = .now + Self.jobRecordPause
        pauseReason = try await client.call(ReadAppState(), plan.app).pause?.reason
        guard let jobRecord = try await client.jobRecord(tracker.id(of: oldest), plan.app),
            jobRecord.state == .finished
        else { return }
        // It is closed when the events until now are read.
        tracker.ended(oldest, delivered: jobRecord.delivered)
        looksAt = .now
        moved()
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
