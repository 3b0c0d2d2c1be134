import EventLoop
import FarmPolicy
import Settling
import StoreProtocol

/// Settles workers' reports. Every host has one for each app; the host that reads an entry settles it.
///
/// An entry exists until it is settled, so nothing is lost with a lost reply or a lost host: after an error it reads
/// its pending entries again, and from time to time it takes over entries that other hosts left.
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
    /// Entries that this host read may be unsettled.
    private var isBehind = true
    private var isInTrouble = false
    private var lastClaim: UInt64 = 0
    private var isClaimDue = false
    private var backoff = BackOff.redis
    private var pace = SettlePace()
    private lazy var unsettled = UnsettledEntries(context) { [weak self] in self?.isBehind = true }
    /// The key whose wrong type blocks settling.
    private var brokenKey: String?

    /// - Parameters:
    ///   - claimInterval: between searches for entries that others left; also for how long they must have left them.
    ///   - poll: the longest time between two reads, when no wake-up comes.
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

    /// Settles all entries, and ends.
    func stop() async {
        isStopping = true
        wakeUp.signal()
        await task?.value
        task = nil
    }

    /// A worker has reported.
    func wake() { wakeUp.signal() }

    /// Another host has left: its pending entries are due.
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
                // Nothing can be settled meanwhile, however much is reported.
                _ = try? await Loop.sleep(for: backoff.failed())
            } else {
                await wakeUp.wait(atMost: backoff.failed())
            }
        }
    }

    /// - Returns: whether Redis carried out everything.
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

    /// - Parameter untilEmpty: this is the last round. Otherwise entries that come during it wait for the next
    ///   one, and is settled together with more.
    private func settleNew(untilEmpty: Bool) async throws(StoreError) {
        var hasSettled = false
        while true {
            // Answers come in order: with this one, the settlements of the read before are done.
            let read = ReadResults(gatherer: context.host, .new)
            let records = try await context.store.perform(read)
            try goOnUnlessBroken()
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
            try goOnUnlessBroken()
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
            try goOnUnlessBroken()
            settle(reply.records)
            next = reply.next
        } while next != nil
        lastClaim = Loop.milliseconds
        isClaimDue = false
    }

    /// What was read last is read again later.
    private func goOnUnlessBroken() throws(StoreError) {
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
    /// Sends the settlements of entries, without waiting for the answers.
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
    ///   - records: theirs among others.
    ///   - isBare: they have been refused before, and are counts only.
    private func send(_ settlements: [Settlement], of records: [ResultsRecord], isBare: Bool = false) {
        context.store.send(Settle(settlements, retention: context.retention)) { [weak self] result in
            switch result {
            case .failure(let error): self?.failed(settlements, of: records, isBare: isBare, error)
            case .success(let reply):
                // What others have settled meanwhile is theirs to count.
                if let context = self?.context, reply.booked > 0 {
                    context.totals.settled(settlements, at: context.clock.milliseconds)
                }
                if let alarm = reply.alarm { self?.alarmed(alarm) }
            }
        }
    }

    private func alarmed(_ alarm: Settle.GuardPause) {
        context.log.error(
            "app paused: too many invalid tokens, most likely of the other environment; none of them is suppressed",
            metadata: ["bad": "\(alarm.bad)", "answers": "\(alarm.answers)"])
        context.paused()
    }

    private func failed(
        _ settlements: [Settlement], of records: [ResultsRecord], isBare: Bool, _ error: StoreError
    ) {
        if error.isTemporary || error == .redis(.closed) {
            isBehind = true
        } else if case .wrongType(let key) = error {
            (isBehind, brokenKey) = (true, key)
        } else if settlements.count > 1 {
            // One of them may be the cause: it must not hold up the others.
            for settlement in settlements { send([settlement], of: records) }
        } else if let id = settlements.first?.entry {
            guard !isBare, let record = records.first(where: { $0.id == id }),
                let bare = try? plan.bareSettlement(of: record, why: "\(error)")
            else { return unsettled.add(id, "\(error)") }
            context.log.error(
                "results entry settled in part: pushes that were not delivered fail as unreadable",
                metadata: ["entry": "\(id)", "reason": "\(error)"])
            send([bare], of: [record], isBare: true)
        }
    }
}
