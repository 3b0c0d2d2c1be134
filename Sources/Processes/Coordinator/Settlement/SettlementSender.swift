import EventLoop
import FarmPolicy
import Settling
import StoreProtocol

/// Sends the settlements of results entries to Redis, and handles the replies.
@Loop final class SettlementSender {
    private let context: AppContext
    private var plan: SettlePlan
    private var random = SystemRandomNumberGenerator()
    /// Whether some entries that this host has read may be unsettled, so that the host must read its pending entries again.
    var isBehind = true
    /// The key whose wrong type blocks settling.
    var brokenKey: String?
    private lazy var unsettled = UnsettleableEntries(context) { [weak self] in self?.isBehind = true }

    init(_ context: AppContext) {
        self.context = context
        plan = SettlePlan(shards: context.shards, policy: context.shared.retry)
    }

    /// Sends the settlements of entries, without waiting for the replies.
    func settle(_ records: [ResultsStreamEntry]) {
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

    private func settlement(of record: ResultsStreamEntry, now: Int64) throws(EntryFault) -> Settlement {
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
    ///   - records: the results records of the settlements; further records are ignored.
    ///   - hasOnlyCounts: whether the settlements contain only counts, because Redis refused the complete settlements.
    private func send(
        _ settlements: [Settlement], of records: [ResultsStreamEntry], hasOnlyCounts: Bool = false
    ) {
        context.store.send(Settle(settlements, retention: context.retention)) { [weak self] result in
            switch result {
            case .failure(let error):
                self?.failed(settlements, of: records, hasOnlyCounts: hasOnlyCounts, error)
            case .success(let reply):
                // Each host's totals contain only the entries that this host has settled.
                if let context = self?.context, reply.settledCount > 0 {
                    context.totals.settled(settlements, at: context.clock.milliseconds)
                }
                if let pause = reply.guardPause { self?.guardPaused(pause) }
            }
        }
    }

    private func guardPaused(_ pause: Settle.GuardPause) {
        context.log.error(
            "app paused: too many invalid tokens, probably of the other environment; these tokens are not suppressed",
            metadata: ["bad": "\(pause.bad)", "responses": "\(pause.responses)"])
        context.paused()
    }

    private func failed(
        _ settlements: [Settlement], of records: [ResultsStreamEntry], hasOnlyCounts: Bool,
        _ error: StoreError
    ) {
        if error.isTemporary || error == .redis(.closed) {
            isBehind = true
        } else if case .wrongType(let key) = error {
            (isBehind, brokenKey) = (true, key)
        } else if settlements.count > 1 {
            // One faulty settlement may be the cause of the refusal. So each settlement is sent alone, and a faulty settlement
            // blocks no other settlement.
            for settlement in settlements { send([settlement], of: records) }
        } else if let id = settlements.first?.entry {
            // If the settlement with only counts was refused, too, the entry stays in the stream, and the reason of the
            // refusal is stored.
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
