import EventLoop
import FarmPolicy
import StoreProtocol

/// Applies the pauses and cancellations of an app's jobs, tokens and shards. The workers of this host are notified. If
/// this host holds the lease of the app's intake, it also cancels the unsent pushes of cancelled jobs.
@Loop final class PauseSync {
    /// Paused shards, which no worker serves.
    private(set) var pausedShards: Set<Int> = []
    /// Called when the set of paused shards changes.
    var onPausedShardsChanged: @Loop () -> Void = {}
    /// Whether this host holds the lease of the app's intake.
    var isOwner: @Loop () -> Bool = { false }

    private let context: AppContext
    /// The value that `pause_changes` in the admission hash had when the pauses were last read; nil before the first
    /// read.
    private var seen: Int?
    /// Pauses and cancellations that the workers already know.
    private var announced: Set<String> = []
    /// Jobs to cancel at a later time, in Unix milliseconds.
    private var futureCancels: [String: Int64] = [:]
    private var rounds = CancelRounds()
    private var isCancelling = false

    private static let jobsPerOrder = 100
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
            for item in try await pauses(.devices) where isNew(item) {
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

    /// Makes this host's workers return the pushes of `jobs` and `shards` that are not in flight. Later checkouts skip
    /// these pushes.
    private func returnBatches(_ jobs: [String], _ shards: Set<Int>) {
        let numbers = shards.sorted().compactMap { UInt16(exactly: $0) }
        if !numbers.isEmpty {
            context.services.notifyWorkers(.returnBatches(app: context.name, jobs: [], shards: numbers))
        }
        for first in stride(from: 0, to: jobs.count, by: Self.jobsPerOrder) {
            let some = Array(jobs[first..<min(first + Self.jobsPerOrder, jobs.count)])
            context.services.notifyWorkers(.returnBatches(app: context.name, jobs: some, shards: []))
        }
    }

    // MARK: Cancelling

    /// Cancels the pushes of cancelled jobs in all batches that no worker has checked out. A split or a retry that
    /// follows this call cancels the pushes of cancelled jobs itself.
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

    /// - Returns: how many of `batches` still exist, according to Redis's replies.
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
