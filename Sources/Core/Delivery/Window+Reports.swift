package import StoreProtocol

/// What is said to Redis about held batches: a whole batch at once when it is complete, else what there is every 20 ms.
extension Window {
    /// Outcomes of the batch's pushes have become known.
    func outcomesRecorded(of batch: HeldBatch) {
        let isThrough = batch.isSuspect && batch.inFlight == 0 && !batch.hasNext
        if batch.isComplete || isThrough || batch.ownership != .ours && batch.inFlight == 0 {
            if batch.unreported > 0 { report(batch) }
        } else if batch.unreported > 0 {
            reports.add(batch, within: ReportQueue.interval)
        }
        if batch.inFlight == 0, mode == .returning || !batch.maySend { proceed(batch) }
    }

    /// Makes the calls that are due: see ``delay``.
    package func reportDue() {
        for batch in reports.take() where !batch.isReleased && !batch.isReporting {
            report(batch)
            proceed(batch)
        }
        for request in unreadable.values { add(.quarantine(request)) }
        repeatReports()
    }

    /// Tells Redis the unreported outcomes of a batch, and asks for as much credit as there is. One call does both.
    func report(_ batch: HeldBatch) {
        guard !batch.isReporting, batch.ownership != .goingBack || batch.mustReportFirst else { return }
        let content = batch.beginReport(&builder)
        let wanted = wantedCredit(of: batch)
        // A request for credit that had no answer may have been carried out: it is asked again how far.
        let isOpen =
            batch.asked > 0
            || batch.mustCompare && (batch.ownership == .ours || batch.ownership == .goingBack)
        guard content != nil || wanted > batch.granted || isOpen else { return }
        if content == nil { batch.beginAsking() }
        // What the report frees when it is taken may be granted with it.
        batch.asked = max(batch.asked, wanted - batch.granted - batch.reporting)
        let call = call(about: batch)
        add(
            .report(
                call,
                Report(
                    token: call.token, worker: worker, batch: batch.id, delivery: batch.delivery,
                    wanted: wanted, isFactsOnly: content?.isFinal ?? false,
                    runs: content?.runs ?? PositionRuns(), entry: content?.entry ?? [],
                    expectedOpen: batch.mustCompare ? -1 : batch.count - batch.reported - batch.reporting)))
    }

    /// Until which position the batch should be granted.
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

    /// Redis has answered a report, or has not.
    package func answered(_ call: Call, _ result: Result<Report.Reply, StoreError>) {
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

    /// Continues with a batch: queues it for sending, gives it back to Redis, or releases it.
    func proceed(_ batch: HeldBatch) {
        guard !batch.isReleased else { return }
        // Also while a report is under way, or something waits for one: nothing younger may pass.
        if !batch.isSuspect { requeue(batch) }
        guard !batch.isReporting else { return }
        switch batch.ownership {
        case .ours where mode == .returning || batch.isHalted:
            if batch.inFlight == 0 { areReturnsDue = true }
        case .ours:
            if batch.mustCompare { report(batch) }
            requeue(batch)
        case .goingBack where batch.mustReportFirst: report(batch)
        case .goingBack: putBack(batch)
        case .stale, .ended:
            if batch.isIdle { release(batch) }
        }
    }

    /// Another owner has the batch; unless only the token was out of date, and there is another by now.
    private func becomeStale(_ batch: HeldBatch, _ call: Call, _ staleness: Report.Staleness) {
        if staleness == .fenced, let token = shards.tokens[batch.shard], token != call.token { return }
        batch.becomeStale()
        // A Redis that went back may have given us an older delivery of it: that one is searched for.
        if staleness == .redelivered { checkouts.search(batch.shard) }
        if staleness == .fenced { fenced(batch.shard, call.token) }
    }

    /// Redis shows its map of a batch.
    private func compare(_ batch: HeldBatch, with map: [UInt8], granted: Int) {
        let wasExpected = batch.mustCompare
        batch.mustCompare = false
        let hasForgotten = batch.reconcile(map, granted: granted)
        // Redis may have forgotten a grant: it is asked for again.
        if batch.ownership == .ours { credit.add(batch) }
        if hasForgotten, !wasExpected, batch.ownership == .ours { compareAll() }
    }

    /// Redis has another owner for a shard; if it was not withdrawn from us, our coordinator has lost it unawares.
    func fenced(_ shard: Int, _ token: FenceToken) {
        guard shards.tokens[shard] == token else { return }
        add(.fenced)
    }

    /// Gives back the batches that have nothing in flight and nothing unreported: each to the head of its list, the newest first,
    /// and none before those that came after it.
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
        batch.goBack()
        held.beganGoingBack()
        batch.beginAsking()
        let batches = [(id: batch.id, delivery: batch.delivery)]
        add(.putBack(call(about: batch), PutBack(token: token, worker: worker, batches: batches)))
    }

    /// Redis has taken a batch back, or has not.
    package func putBack(_ call: Call, _ result: Result<Int, StoreError>) {
        guard let batch = held[call.batch] else { return }
        batch.reportFailed()
        guard batch.delivery == call.delivery, batch.ownership == .goingBack else { return proceed(batch) }
        switch result {
        case .success(let moved):
            if moved == 0 { checkouts.search(batch.shard) }
            release(batch)
        case .failure(.fenced) where shards.token(of: batch.shard) != call.token:
            // The token was out of date: the batch still bears our name.
            putBack(batch)
        case .failure(.fenced):
            release(batch)
            fenced(batch.shard, call.token)
        case .failure: reports.add(batch, within: ReportQueue.retryInterval)
        }
    }

    // MARK: A Redis that went back in time

    /// There is a connection to Redis again. Calls that had no answer have failed before.
    ///
    /// - Parameter isOther: it is another Redis than before, or was restarted.
    package func reconnected(isOther: Bool) {
        reports.endPause()
        if isOther {
            recent.expectOther()
            compareAll()
        }
        reportDue()
    }

    /// Compares every held batch with Redis's map, makes the reports of the last seconds once more, and searches for batches that
    /// Redis assigns to this worker.
    func compareAll() {
        guard recent.beginComparing(at: now) else { return }
        for batch in held.values where batch.ownership == .ours || batch.ownership == .goingBack {
            batch.mustCompare = true
            report(batch)
        }
        checkouts.searchAll()
        repeatAll()
    }

    /// Makes the reports of the last seconds once more.
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

    /// Redis has answered a repeated report, or has not.
    package func repeated(_ report: Report, _ result: Result<Report.Reply, StoreError>) {
        recent.answered()
        switch result {
        case .failure:
            // All of them once more: which ones had an answer does not matter.
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
    /// Proves nothing: with it outcomes are taken that hold for any owner, decisions are not.
    static var none: FenceToken { FenceToken([]) }
}
