package import StoreProtocol

/// Reports the outcomes of held batches to Redis: at once when a batch is complete, otherwise every 20 ms.
extension DeliveryWindow {
    /// Schedules the report of newly recorded outcomes.
    func outcomesRecorded(of batch: HeldBatch) {
        let isThrough = batch.isSuspect && batch.inFlight == 0 && !batch.hasNext
        if batch.isComplete || isThrough || batch.ownership != .ours && batch.inFlight == 0 {
            if batch.unreported > 0 { report(batch) }
        } else if batch.unreported > 0 {
            reports.add(batch, within: ReportQueue.interval)
        }
        if batch.inFlight == 0, mode == .returning || !batch.maySend { proceed(batch) }
    }

    /// Makes the calls that are due when ``delay`` has passed.
    package func reportDue() {
        for batch in reports.take() where !batch.isReleased && !batch.isReporting {
            report(batch)
            proceed(batch)
        }
        for request in unreadable.values { add(.quarantine(request)) }
        repeatReports()
    }

    /// Reports the outcomes of a batch and requests as much credit as is available, in one call.
    func report(_ batch: HeldBatch) {
        guard !batch.isReporting, batch.ownership != .returning || batch.mustReportFirst else { return }
        let content = batch.beginReport(&builder)
        let wanted = wantedCredit(of: batch)
        // If the reply to a credit request was lost, Redis may have granted the credit. So a report is sent even without an
        // outcome, because the reply to the report contains the granted credit.
        let isOpen =
            batch.asked > 0
            || batch.mustCompare && (batch.ownership == .ours || batch.ownership == .returning)
        guard content != nil || wanted > batch.granted || isOpen else { return }
        if content == nil { batch.beginAsking() }
        // A report frees credit, and in the same call Redis may grant this credit to the batch again.
        batch.asked = max(batch.asked, wanted - batch.granted - batch.reporting)
        let call = call(about: batch)
        add(
            .report(
                call,
                Report(
                    token: call.token, worker: worker, batch: batch.id, delivery: batch.delivery,
                    wanted: wanted, hasOnlyFacts: content?.hasOnlyFacts ?? false,
                    runs: content?.runs ?? PositionRuns(), entry: content?.entry ?? [],
                    expectedOpen: batch.mustCompare ? -1 : batch.count - batch.reported - batch.reporting)))
    }

    /// Returns the end of the positions for which the worker requests credit.
    private func wantedCredit(of batch: HeldBatch) -> Int {
        guard mode == .sending, batch.maySend, batch.isSuspect || !yieldsToSuspect else {
            return batch.granted
        }
        return batch.wanted(room: max(0, room(for: batch.lane) + batch.reporting + batch.asked))
    }

    private func call(about batch: HeldBatch) -> Call {
        Call(
            batch: batch.number, delivery: batch.delivery, token: shards.token(of: batch.shard) ?? .none)
    }

    /// Handles the reply to a report, or its failure.
    package func reported(_ call: Call, _ result: Result<Report.Reply, StoreError>) {
        guard let batch = held[call.batch] else { return }
        let isCurrent = batch.delivery == call.delivery
        switch result {
        case .failure:
            batch.reportFailed()
            reports.pause(from: now)
            return reports.add(batch, within: ReportQueue.retryInterval)
        case .success(.taken(let state)):
            if batch.reporting > 0 { add(.hasReported) }
            batch.reportAccepted()
            if state.isDone {
                batch.end()
            } else if !isCurrent {
                break
            } else if let staleness = state.staleness {
                becomeStale(batch, call, staleness)
            } else if let map = state.map {
                compare(batch, with: map, granted: state.granted)
            } else {
                batch.grant(upTo: state.granted)
            }
        case .success(.map(let map)):
            batch.reportFailed()
            guard isCurrent else { break }
            if let staleness = map.staleness { becomeStale(batch, call, staleness) }
            compare(
                batch, with: map.positions, granted: map.staleness == nil ? map.granted : batch.granted)
        case .success(.stale(let state)):
            batch.reportFailed()
            if isCurrent { becomeStale(batch, call, state.staleness ?? .redelivered) }
        }
        batch.asked = 0
        if batch.unreported > 0 { outcomesRecorded(of: batch) }
        proceed(batch)
    }

    /// Continues with a batch: queues the batch for sending, returns the batch to Redis, or releases the batch.
    func proceed(_ batch: HeldBatch) {
        guard !batch.isReleased else { return }
        // The batch keeps its place in the queue during reports, so that no younger batch overtakes it.
        if !batch.isSuspect { requeue(batch) }
        guard !batch.isReporting else { return }
        switch batch.ownership {
        case .ours where mode == .returning || batch.isHalted:
            if batch.inFlight == 0 { areReturnsDue = true }
        case .ours:
            if batch.mustCompare { report(batch) }
            requeue(batch)
        case .returning where batch.mustReportFirst: report(batch)
        case .returning: putBack(batch)
        case .stale, .ended:
            if batch.isIdle { release(batch) }
        }
    }

    /// Handles a reply that another worker owns the batch. If this worker has received a newer fencing token since the call, the
    /// reply is ignored.
    private func becomeStale(_ batch: HeldBatch, _ call: Call, _ staleness: Report.Staleness) {
        if staleness == .fenced, let token = shards.tokens[batch.shard], token != call.token { return }
        batch.becomeStale()
        // A Redis that lost its last writes may have assigned an older delivery of the batch to this worker. A search of the
        // shard finds this older delivery.
        if staleness == .redelivered { checkouts.search(batch.shard) }
        if staleness == .fenced { fenced(batch.shard, call.token) }
    }

    /// Compares a batch with the map that Redis returned. The map has the state of each position of the batch.
    private func compare(_ batch: HeldBatch, with map: [UInt8], granted: Int) {
        let wasExpected = batch.mustCompare
        batch.mustCompare = false
        let hasForgotten = batch.reconcile(map, granted: granted)
        // Redis may have lost a grant, so the credit is requested again.
        if batch.ownership == .ours { credit.add(batch) }
        if hasForgotten, !wasExpected, batch.ownership == .ours { compareAll() }
    }

    /// Handles a shard that has another owner in Redis. If this worker still serves the shard, the host has lost the lease and
    /// its coordinator has not noticed the loss, so the coordinator is informed.
    func fenced(_ shard: Int, _ token: FenceToken) {
        guard shards.tokens[shard] == token else { return }
        add(.fenced)
    }

    /// Returns batches to the head of their lists in Redis if the batches have neither pushes in flight nor unreported
    /// outcomes. The newest batch is returned first. To keep the order of a list, a batch waits until all younger batches of
    /// the list are returned.
    func returnIdle() {
        areReturnsDue = false
        var blocked: Set<Int> = []
        let leaving = held.values.filter { $0.ownership == .ours && (mode == .returning || $0.isHalted) }
        for batch in leaving.sorted(by: { $0.number > $1.number }) {
            let isIdle = batch.inFlight == 0 && !batch.isReporting
            if isIdle, batch.unreported > 0 || batch.mustCompare {
                report(batch)
            } else if isIdle, !blocked.contains(batch.list) {
                putBack(batch)
                continue
            }
            blocked.insert(batch.list)
        }
    }

    private func putBack(_ batch: HeldBatch) {
        guard let token = shards.token(of: batch.shard) else { return release(batch) }
        batch.beginReturn()
        held.returnBegan()
        batch.beginAsking()
        let batches = [(id: batch.id, delivery: batch.delivery)]
        add(.putBack(call(about: batch), PutBack(token: token, worker: worker, batches: batches)))
    }

    /// Handles the reply to the return of a batch, or its failure.
    package func putBack(_ call: Call, _ result: Result<Int, StoreError>) {
        guard let batch = held[call.batch] else { return }
        batch.reportFailed()
        guard batch.delivery == call.delivery, batch.ownership == .returning else { return proceed(batch) }
        switch result {
        case .success(let moved):
            if moved == 0 { checkouts.search(batch.shard) }
            release(batch)
        case .failure(.fenced) where shards.token(of: batch.shard) != call.token:
            // Redis refused only the old fencing token, so the call is repeated with the new token.
            putBack(batch)
        case .failure(.fenced):
            release(batch)
            fenced(batch.shard, call.token)
        case .failure: reports.add(batch, within: ReportQueue.retryInterval)
        }
    }

    // MARK: A Redis that lost its last writes

    /// Handles a new connection to Redis. Before this call, the caller has reported all calls without a reply as failed.
    ///
    /// - Parameter isOther: whether the connection leads to a different Redis server, or to a server that was restarted.
    package func reconnected(isOther: Bool) {
        reports.endPause()
        if isOther {
            recent.allowComparison()
            compareAll()
        }
        reportDue()
    }

    /// Compares the positions of every held batch with Redis's map of the positions, repeats the reports of the last seconds,
    /// and searches for batches that Redis assigns to this worker.
    func compareAll() {
        guard recent.beginComparing(at: now) else { return }
        for batch in held.values where batch.ownership == .ours || batch.ownership == .returning {
            batch.mustCompare = true
            report(batch)
        }
        checkouts.searchAll()
        repeatAll()
    }

    /// Repeats the reports of the last seconds.
    package func repeatAll() {
        recent.repeatAll(at: now)
        repeatReports()
    }

    private func repeatReports() {
        let shards = shards
        for report in recent.repeats(worker: worker, token: { shards.token(of: $0) ?? .none }) {
            add(.repeated(report))
        }
    }

    /// Handles the reply to a repeated report, or its failure.
    package func repeated(_ report: Report, _ result: Result<Report.Reply, StoreError>) {
        recent.repeatEnded()
        switch result {
        case .failure:
            // Repeats all reports, which is simpler than tracking which reports got a reply.
            recent.repeatAll(at: now)
            reports.retrySoon()
        case .success(.taken(let state)):
            if !state.isDone { add(.hasReported) }
            repeatReports()
        case .success: repeatReports()
        }
    }
}

extension FenceToken {
    /// An invalid fencing token. In a report with this token, Redis accepts only outcomes that it accepts from any worker, such
    /// as deliveries.
    static var none: FenceToken { FenceToken([]) }
}
