import EventLoop
import FarmPolicy
import StoreProtocol

/// Applies the pauses and cancellations of an app's jobs, tokens and shards: makes the workers of this host return the
/// affected batches. If this host owns the app's intake, also cancels the unsent pushes of cancelled jobs.
@Loop final class PauseSync {
    /// Paused shards, which no worker serves.
    private(set) var pausedShards: Set<Int> = []
    /// Called when the set of paused shards changes.
    var onPausedShardsChanged: @Loop () -> Void = {}
    /// Whether this host holds the lease of the app's intake.
    var isOwner: @Loop () -> Bool = { false }

    private let context: AppContext
    /// The number of changes of pauses, `pause_changes` in the admission hash, when this process last read the pauses;
    /// nil before the first read.
    private var seen: Int?
    /// The pauses and cancellations for which the workers have already been asked to return batches.
    private var announced: Set<String> = []
    /// Jobs that will be cancelled later, each with the time of the cancellation in Unix milliseconds.
    private var futureCancels: [String: Int64] = [:]
    private var rounds = CancelRounds()
    private var isCancelling = false

    private static let jobsPerMessage = 100
    private static let batchesPerCall = 64

    init(_ context: AppContext) { self.context = context }

    /// Applies the app's state: reads the pauses if they have changed, and cancels jobs that are due. Call this
    /// function after every read of the state from Redis.
    func apply(_ appState: ReadAppState.State) async {
        if appState.pauseChanges != seen ?? 0 { await read(appState.pauseChanges) }
        let now = context.clock.seconds * 1000
        let due = futureCancels.filter { $0.value <= now }.keys.sorted()
        if !due.isEmpty {
            for job in due { futureCancels[job] = nil }
            returnBatches(due, [])
            rounds.changed(at: .now)
        }
        guard !isCancelling, isOwner(), rounds.isDue(open: appState.cancels, at: .now) else { return }
        isCancelling = true
        Loop.task {
            let isWhole = await self.cancelBatches()
            self.rounds.ended(isWhole: isWhole, at: .now)
            self.isCancelling = false
        }
    }

    // MARK: Reading pauses

    private func read(_ changes: Int) async {
        do throws(StoreError) {
            var jobs: [String] = []
            var shards: Set<Int> = []
            var fresh: Set<String> = []
            func isNew(_ item: ReadPauses.Item) -> Bool {
                fresh.insert("\(item.kind) \(item.text) \(item.since)")
                return !announced.contains("\(item.kind) \(item.text) \(item.since)")
            }
            for item in try await pauses(.jobs) where isNew(item) { jobs.append(item.text) }
            let now = context.clock.seconds * 1000
            futureCancels = [:]
            for item in try await pauses(.cancels) {
                if item.from > now {
                    futureCancels[item.text] = item.from
                } else if isNew(item) {
                    jobs.append(item.text)
                }
            }
            for item in try await pauses(.tokens) where isNew(item) {
                if let shard = item.shard { shards.insert(shard) }
            }
            let held = Set(try await pauses(.shards).compactMap { Int(foreign: $0.text) })
            (seen, announced) = (changes, fresh)
            returnBatches(jobs, shards)
            rounds.changed(at: .now)
            if held != pausedShards {
                pausedShards = held
                onPausedShardsChanged()
            }
        } catch {
            context.log.warning("cannot read the pauses", error: error)
        }
    }

    private func pauses(_ kind: ReadPauses.Kind) async throws(StoreError) -> [ReadPauses.Item] {
        let request = ReadPauses(kind)
        return request.pauses(try await context.store.perform(request))
    }

    /// Makes this host's workers return the batches of `jobs` and `shards`, except pushes in flight. When workers check
    /// out the batches again, Redis leaves out the paused and cancelled pushes.
    private func returnBatches(_ jobs: [String], _ shards: Set<Int>) {
        let numbers = shards.sorted().compactMap { UInt16(exactly: $0) }
        if !numbers.isEmpty {
            context.shared.notifyWorkers(.returnBatches(app: context.name, jobs: [], shards: numbers))
        }
        for first in stride(from: 0, to: jobs.count, by: Self.jobsPerMessage) {
            let some = Array(jobs[first..<min(first + Self.jobsPerMessage, jobs.count)])
            context.shared.notifyWorkers(.returnBatches(app: context.name, jobs: some, shards: []))
        }
    }

    // MARK: Cancelling

    /// Cancels the pushes of cancelled jobs in all batches that no worker has checked out. Batches that are created
    /// later need no call, because a split or a retry itself cancels the pushes of cancelled jobs.
    /// - Returns: whether all batches were examined.
    private func cancelBatches() async -> Bool {
        do throws(StoreError) {
            var start = 0
            while isOwner() {
                let batches = try await context.store.perform(ListDelayedOrPaused(.paused, start: start))
                if batches.isEmpty { break }
                start += try await cancel(batches)
            }
            var cursor: String? = "0"
            while let from = cursor, isOwner() {
                let page = try await context.store.perform(ScanBatches(cursor: from))
                try await cancel(page.items)
                cursor = page.next
            }
            return cursor == nil
        } catch {
            context.log.warning("waiting for Redis to cancel jobs", error: error)
            return false
        }
    }

    /// - Returns: how many of `batches` still exist after the call.
    @discardableResult
    private func cancel(_ batches: [String]) async throws(StoreError) -> Int {
        var (first, cancelled) = (0, 0)
        while first < batches.count {
            let some = Array(batches[first..<min(first + Self.batchesPerCall, batches.count)])
            let reply = try await context.store.perform(CancelBatches(some))
            first += max(1, reply.examined)
            cancelled += reply.gone
        }
        return batches.count - cancelled
    }
}
