import EventLoop
import FarmPolicy
import Settling
import StoreProtocol

/// Settles workers' reports. Every host has one consumer for each app. The host that reads an entry settles it.
///
/// An entry exists until it is settled, so a lost reply or a lost host loses no entry. After an error, the host reads
/// its pending entries again. From time to time it claims entries that other hosts have left pending.
@Loop final class ResultsConsumer {
    private let context: AppContext
    private let claimInterval: Duration
    private let poll: Duration
    private var plan: SettlePlan
    private var random = SystemRandomNumberGenerator()
    private let wakeUp = AsyncEvent()
    private var task: Task<Void, Never>?
    private var isStopping = false
    private var hasGroup = false
    /// Whether entries that this host has read may still be unsettled.
    private var isBehind = true
    private var isInTrouble = false
    private var lastClaim: UInt64 = 0
    private var isClaimDue = false
    private var backoff = BackOff.redis
    private var pace = SettleInterval()
    private lazy var unsettled = UnsettledEntries(context) { [weak self] in self?.isBehind = true }
    /// The key whose wrong type blocks settling.
    private var brokenKey: String?

    /// - Parameters:
    ///   - claimInterval: the time between two searches for abandoned entries, and the minimum age of such entries.
    ///   - poll: the longest time between two reads without a wake-up.
    init(_ context: AppContext, claimInterval: Duration = .seconds(10), poll: Duration = .seconds(1)) {
        self.context = context
        self.claimInterval = claimInterval
        self.poll = poll
        plan = SettlePlan(shards: context.shards, policy: context.services.retry)
    }

    func start() {
        guard task == nil else { return }
        lastClaim = Loop.milliseconds
        task = Loop.task { await self.run() }
    }

    /// Settles all entries, then ends.
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
                _ = try? await Loop.sleep(for: pace.pause)
                guard !isStopping else { continue }
                let start = Loop.milliseconds
                await wakeUp.wait(atMost: poll)
                if Loop.milliseconds > start { pace.idled() }
            } else if brokenKey != nil {
                // Nothing can be settled during the backoff, even if workers report.
                _ = try? await Loop.sleep(for: backoff.failed())
            } else {
                await wakeUp.wait(atMost: backoff.failed())
            }
        }
    }

    /// - Returns: whether Redis has carried out every request.
    private func round() async -> Bool {
        brokenKey = nil
        do throws(StoreError) {
            try await makeGroup()
            if isBehind { try await settlePending() }
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

    /// - Parameter untilEmpty: whether this is the last round. Other rounds leave entries that arrive meanwhile to
    ///   the next round, which settles more of them at once.
    private func settleNew(untilEmpty: Bool) async throws(StoreError) {
        var hasSettled = false
        while true {
            // Redis replies in order, so with this reply the settlements of the previous read are done.
            let read = ReadResults(gatherer: context.host, .new)
            let records = try await context.store.perform(read)
            try throwIfKeyIsBroken()
            if records.isEmpty { return }
            settle(records)
            if !hasSettled { pace.settled() }
            hasSettled = true
            if records.count < read.count, !untilEmpty { return }
        }
    }

    private func settlePending() async throws(StoreError) {
        isBehind = false
        var last: EntryID?
        while true {
            let records = try await context.store.perform(
                ReadResults(gatherer: context.host, .pending(after: last)))
            try throwIfKeyIsBroken()
            guard let end = records.last else { return }
            settle(records)
            last = end.id
        }
    }

    private func settleAbandoned() async throws(StoreError) {
        let idle = isClaimDue ? claimInterval / 2 : claimInterval
        var next: EntryID?
        repeat {
            let reply = try await context.store.perform(
                ClaimResults(gatherer: context.host, idleFor: idle, start: next))
            try throwIfKeyIsBroken()
            settle(reply.records)
            next = reply.next
        } while next != nil
        lastClaim = Loop.milliseconds
        isClaimDue = false
    }

    /// Throws if a key of the wrong type blocks settling. The entries are then read again later.
    private func throwIfKeyIsBroken() throws(StoreError) {
        if let brokenKey { throw .wrongType(key: brokenKey) }
    }

    private func recovered() {
        if isInTrouble { context.log.notice("settling resumed") }
        isInTrouble = false
        backoff = BackOff.redis
    }

    private func troubled(by error: StoreError) {
        isBehind = true
        if case .redis(.refused(let refusal)) = error, refusal.code == "NOGROUP" { hasGroup = false }
        if !isInTrouble {
            context.log.warning("settling waits for Redis", error: error)
        }
        isInTrouble = true
    }
}

// MARK: Settling

extension ResultsConsumer {
    /// Sends the settlements of entries, without waiting for the replies.
    private func settle(_ records: [ResultsRecord]) {
        let now = context.clock.seconds
        plan.isAudited = context.retention.auditBytes > 0
        var calls = SettleCalls()
        var earliest: Duration?
        for record in records where !unsettled.contains(record.id) {
            do throws(EntryFault) {
                var settlement = try settlement(of: record, now: now)
                settlement.lane = record.lane
                for retry in settlement.retries { earliest = min(earliest ?? retry.delay, retry.delay) }
                calls.append(settlement)
            } catch {
                unsettled.add(record.id, "\(error)")
            }
        }
        for call in calls.calls { send(call, of: records) }
        if let earliest { context.onDelayedBatches(earliest) }
    }

    private func settlement(of record: ResultsRecord, now: Int64) throws(EntryFault) -> Settlement {
        switch record.content {
        case .report(let bytes):
            try plan.settlement(of: record.id, report: bytes, lane: record.lane, now: now, using: &random)
        case .closed(let reason, let body, let positions):
            try plan.settlement(of: record.id, closed: reason, body: body, positions: positions)
        case .gone: Settlement(entry: record.id)
        case .unreadable(let why): throw .form(why)
        }
    }

    /// - Parameters:
    ///   - records: the results records of the settlements, possibly with others.
    ///   - hasOnlyCounts: whether the settlements were refused before and contain only counts.
    private func send(_ settlements: [Settlement], of records: [ResultsRecord], hasOnlyCounts: Bool = false) {
        context.store.send(Settle(settlements, retention: context.retention)) { [weak self] result in
            switch result {
            case .failure(let error):
                self?.failed(settlements, of: records, hasOnlyCounts: hasOnlyCounts, error)
            case .success(let reply):
                // Each host counts only the entries that it has settled itself.
                if let context = self?.context, reply.booked > 0 {
                    context.totals.settled(settlements, at: context.clock.milliseconds)
                }
                if let pause = reply.guardPause { self?.guardPaused(pause) }
            }
        }
    }

    private func guardPaused(_ pause: Settle.GuardPause) {
        context.log.error(
            "app paused: too many invalid tokens, most likely of the other environment; none of them is suppressed",
            metadata: ["bad": "\(pause.bad)", "answers": "\(pause.answers)"])
        context.paused()
    }

    private func failed(
        _ settlements: [Settlement], of records: [ResultsRecord], hasOnlyCounts: Bool, _ error: StoreError
    ) {
        if error.isTemporary || error == .redis(.closed) {
            isBehind = true
        } else if case .wrongType(let key) = error {
            (isBehind, brokenKey) = (true, key)
        } else if settlements.count > 1 {
            // One settlement may be the cause, so each is sent alone and does not block the others.
            for settlement in settlements { send([settlement], of: records) }
        } else if let id = settlements.first?.entry {
            guard !hasOnlyCounts, let record = records.first(where: { $0.id == id }),
                let bare = try? plan.countsOnlySettlement(of: record, why: "\(error)")
            else { return unsettled.add(id, "\(error)") }
            context.log.error(
                "results entry settled in part: pushes that were not delivered fail as unreadable",
                metadata: ["entry": "\(id)", "reason": "\(error)"])
            send([bare], of: [record], hasOnlyCounts: true)
        }
    }
}
