import EventLoop
import FarmPolicy
import Settling
import StoreProtocol

/// Settles workers' reports. Every host has one consumer for each app. The host that reads an entry settles it.
///
/// An entry exists until it is settled, so a lost reply or a lost host loses no entry. After an error, the host reads
/// its pending entries again. From time to time, the host claims entries that other hosts have left pending.
@Loop final class ResultsConsumer {
    private let context: AppContext
    private let claimInterval: Duration
    private let poll: Duration
    private let sender: SettlementSender
    private let wakeUp = AsyncEvent()
    private var task: Task<Void, Never>?
    private var isStopping = false
    private var hasGroup = false
    private var isInTrouble = false
    private var lastClaim: UInt64 = 0
    private var isClaimDue = false
    private var backoff = BackOff.redis
    private var interval = SettleInterval()

    /// - Parameters:
    ///   - claimInterval: the time between two searches for abandoned entries, and the minimum age of abandoned
    ///     entries.
    ///   - poll: the longest time between two reads without a wake-up.
    init(_ context: AppContext, claimInterval: Duration = .seconds(10), poll: Duration = .seconds(1)) {
        self.context = context
        self.claimInterval = claimInterval
        self.poll = poll
        sender = SettlementSender(context)
    }

    func start() {
        guard task == nil else { return }
        lastClaim = Loop.milliseconds
        task = Loop.task { await self.run() }
    }

    /// Settles all entries, then ends the consumer.
    func stop() async {
        isStopping = true
        wakeUp.signal()
        await task?.value
        task = nil
    }

    /// Starts a read, because a worker has reported.
    func wake() { wakeUp.signal() }

    /// Claims pending entries soon, because another host has left.
    func claim() {
        isClaimDue = true
        wakeUp.signal()
    }

    private func run() async {
        while true {
            let isLast = isStopping
            let isWell = await round()
            if isLast || isStopping && !isWell { return }
            if isWell {
                // The sleep cannot fail, because this task is never cancelled: ``stop()`` ends the task.
                _ = try? await Loop.sleep(for: interval.pause)
                guard !isStopping else { continue }
                let start = Loop.milliseconds
                await wakeUp.wait(atMost: poll)
                if Loop.milliseconds > start { interval.idled() }
            } else if sender.brokenKey != nil {
                // During the backoff, a worker's report does not start an early read, because nothing can be settled.
                _ = try? await Loop.sleep(for: backoff.failed())
            } else {
                await wakeUp.wait(atMost: backoff.failed())
            }
        }
    }

    /// - Returns: whether Redis has carried out every request of the round.
    private func round() async -> Bool {
        sender.brokenKey = nil
        do throws(StoreError) {
            try await makeGroup()
            if sender.isBehind { try await settlePending() }
            if isClaimDue || Loop.milliseconds - lastClaim >= claimInterval.milliseconds {
                try await settleAbandoned()
            }
            try await settleNew(untilEmpty: isStopping)
            recovered()
            return true
        } catch {
            troubled(by: error)
            return false
        }
    }
}

// MARK: Reading

extension ResultsConsumer {
    private func makeGroup() async throws(StoreError) {
        guard !hasGroup else { return }
        try await context.store.perform(CreateResultsGroup())
        hasGroup = true
    }

    /// - Parameter untilEmpty: whether to read until the stream has no new entry, as in the last round. Any other round ends
    ///   earlier, so that the next round settles more entries at once.
    private func settleNew(untilEmpty: Bool) async throws(StoreError) {
        var hasSettled = false
        while true {
            // Redis replies in order: when this reply arrives, Redis has carried out the settlements of the previous
            // read.
            let read = ReadResults(consumer: context.host, .new)
            let records = try await context.store.perform(read)
            try throwIfKeyIsBroken()
            if records.isEmpty { return }
            sender.settle(records)
            if !hasSettled { interval.settled() }
            hasSettled = true
            if records.count < read.count, !untilEmpty { return }
        }
    }

    private func settlePending() async throws(StoreError) {
        sender.isBehind = false
        var last: EntryID?
        while true {
            let records = try await context.store.perform(
                ReadResults(consumer: context.host, .pending(after: last)))
            try throwIfKeyIsBroken()
            guard let end = records.last else { return }
            sender.settle(records)
            last = end.id
        }
    }

    private func settleAbandoned() async throws(StoreError) {
        let idle = isClaimDue ? claimInterval / 2 : claimInterval
        var next: EntryID?
        repeat {
            let reply = try await context.store.perform(
                ClaimResults(consumer: context.host, idleFor: idle, start: next))
            try throwIfKeyIsBroken()
            sender.settle(reply.records)
            next = reply.next
        } while next != nil
        lastClaim = Loop.milliseconds
        isClaimDue = false
    }

    /// Throws if a key of the wrong type blocks settling, so that the caller reads the entries again later.
    private func throwIfKeyIsBroken() throws(StoreError) {
        if let brokenKey = sender.brokenKey { throw .wrongType(key: brokenKey) }
    }

    private func recovered() {
        if isInTrouble { context.log.notice("settling resumed") }
        isInTrouble = false
        backoff = BackOff.redis
    }

    private func troubled(by error: StoreError) {
        sender.isBehind = true
        if case .redis(.refused(let refusal)) = error, refusal.code == "NOGROUP" { hasGroup = false }
        if !isInTrouble {
            context.log.warning("settling waits for Redis", error: error)
        }
        isInTrouble = true
    }
}
