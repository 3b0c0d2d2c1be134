import EventLoop
import FarmPolicy
import StoreProtocol

/// Paused and cancelled jobs, tokens and shards of an app: notifies the workers of this host, and ends cancelled pushes if the
/// app's intake is this host's.
@Loop final class PauseSync {
    /// Shards that are not served.
    private(set) var pausedShards: Set<Int> = []
    /// Called when the set of paused shards changes.
    var onPausedShardsChanged: @Loop () -> Void = {}
    /// The app's intake is this host's.
    var isOwner: @Loop () -> Bool = { false }

    private let context: AppContext
    /// `pause_changes` of the admission hash when the pauses were read.
    private var seen: Int?
    /// Marks that the workers know.
    private var announced: Set<String> = []
    /// Jobs that are cancelled from a later moment on, in Unix milliseconds.
    private var later: [String: Int64] = [:]
    private var rounds = CancelRounds()
    private var isSweeping = false

    private static let jobsPerOrder = 100
    private static let batchesPerCall = 64

    init(_ context: AppContext) { self.context = context }

    /// To be called whenever the state of the app was read.
    func apply(_ appState: ReadAppState.State) async {
        if appState.holds != seen ?? 0 { await read(appState.holds) }
        let now = context.clock.seconds * 1000
        let due = later.filter { $0.value <= now }.keys.sorted()
        if !due.isEmpty {
            for job in due { later[job] = nil }
            returnBatches(due, [])
            rounds.changed(at: .now)
        }
        guard !isSweeping, isOwner(), rounds.isDue(open: appState.cancels, at: .now) else { return }
        isSweeping = true
        Loop.task {
            let isWhole = await self.sweep()
            self.rounds.ended(isWhole: isWhole, at: .now)
            self.isSweeping = false
        }
    }

    // MARK: Marks

    private func read(_ holds: Int) async {
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
            later = [:]
            for item in try await pauses(.cancels) {
                if item.from > now {
                    later[item.text] = item.from
                } else if isNew(item) {
                    jobs.append(item.text)
                }
            }
            for item in try await pauses(.devices) where isNew(item) {
                if let shard = item.shard { shards.insert(shard) }
            }
            let held = Set(try await pauses(.shards).compactMap { Int(foreign: $0.text) })
            (seen, announced) = (holds, fresh)
            returnBatches(jobs, shards)
            rounds.changed(at: .now)
            if held != pausedShards {
                pausedShards = held
                onPausedShardsChanged()
            }
        } catch {
            context.log.warning("cannot read pauses", error: error)
        }
    }

    private func pauses(_ kind: ReadPauses.Kind) async throws(StoreError) -> [ReadPauses.Item] {
        let request = ReadPauses(kind)
        return request.pauses(try await context.store.perform(request))
    }

    /// Workers give back the pushes of these that are not in flight: checkouts skip them from then on.
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

    // MARK: Called back

    /// Goes through all batches that no worker holds. What is split or tried again meanwhile ends by itself.
    /// - Returns: whether it came to its end.
    private func sweep() async -> Bool {
        do throws(StoreError) {
            var start = 0
            while isOwner() {
                let batches = try await context.store.perform(ListWaiting(.paused, start: start))
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
            context.log.warning("cannot cancel jobs yet: waiting for Redis", error: error)
            return false
        }
    }

    /// - Returns: how many of the batches still exist, as far as the counts show.
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
