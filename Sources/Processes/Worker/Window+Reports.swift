import FarmStore

/// What is said to Redis about batches in hand: a whole batch at once when it is settled, else what there is every 20 ms.
extension Window {
    private static let interval = Duration.milliseconds(20)
    static let retryInterval = Duration.milliseconds(200)

    /// Positions of the batch were settled.
    func settled(_ batch: HeldBatch) {
        let isThrough = batch.isCareful && batch.inAir == 0 && !batch.hasNext
        if batch.isSettled || isThrough || batch.standing != .ours && batch.inAir == 0 {
            if batch.settled > 0 { report(batch) }
        } else if batch.settled > 0 {
            remember(batch, for: Self.interval)
        }
        if batch.inAir == 0, mode == .returning || !batch.maySend { proceed(batch) }
    }

    /// Reports what has been settled since the last time.
    func reportDirty() {
        delay = nil
        let batches = dirty
        dirty.removeAll(keepingCapacity: true)
        for batch in batches {
            batch.isDirty = false
            guard held[batch.number] === batch, !batch.isReporting else { continue }
            report(batch)
            proceed(batch)
        }
        for park in unreadable.values { actions.append(.park(park)) }
        repeatFacts()
    }

    /// Reports what is settled, and asks for as much credit as there is.
    func report(_ batch: HeldBatch) {
        guard !batch.isReporting, batch.standing != .goingBack || batch.mustReportFirst else { return }
        let report = batch.beginReport(&builder)
        let free = room(for: batch.lane) + batch.reporting + batch.asked
        let wanted =
            mode == .sending && batch.maySend && (batch.isCareful || !yields)
            ? batch.wanted(room: max(0, free)) : batch.granted
        // A request for credit that had no answer may have been carried out: it is asked again how far.
        let isOpen =
            batch.asked > 0 || batch.isDoubted && (batch.standing == .ours || batch.standing == .goingBack)
        guard report != nil || wanted > batch.granted || isOpen else { return }
        let token = shards.token(of: batch.shard) ?? FenceToken.none
        if report == nil { batch.beginAsking() }
        // What the report frees when it is taken may be granted with it.
        batch.asked = max(batch.asked, wanted - batch.granted - batch.reporting)
        let call = Call(batch: batch.number, delivery: batch.delivery, token: token)
        actions.append(
            .report(
                call,
                Report(
                    token: token, worker: worker, batch: batch.id, delivery: batch.delivery, wanted: wanted,
                    isFactsOnly: report?.areFacts ?? false, runs: report?.runs ?? PositionRuns(),
                    entry: report?.entry ?? [],
                    expectedOpen: batch.isDoubted ? -1 : batch.count - batch.handed - batch.reporting)))
    }

    /// Redis has answered a report, or has not.
    func answered(_ call: Call, _ result: Result<Report.Reply, StoreError>) {
        guard let batch = held[call.batch] else { return }
        let isCurrent = batch.delivery == call.delivery
        switch result {
        case .failure:
            batch.reportFailed()
            rest()
            return remember(batch, for: Self.retryInterval)
        case .success(.taken(let state)):
            if batch.reporting > 0 { actions.append(.hasReported) }
            batch.reportAccepted()
            if state.isDone {
                batch.end()
            } else if !isCurrent {
                break
            } else if let staleness = state.staleness {
                isStale(batch, call, staleness)
            } else if let map = state.map {
                learn(batch, map, granted: state.granted)
            } else {
                batch.grant(upTo: state.granted)
            }
        case .success(.map(let map)):
            batch.reportFailed()
            guard isCurrent else { break }
            if let staleness = map.staleness { isStale(batch, call, staleness) }
            learn(batch, map.positions, granted: map.staleness == nil ? map.granted : batch.granted)
        case .success(.stale(let state)):
            batch.reportFailed()
            if isCurrent { isStale(batch, call, state.staleness ?? .redelivered) }
        }
        batch.asked = 0
        if batch.settled > 0 { settled(batch) }
        proceed(batch)
    }

    /// Brings a batch on: to be sent further, back to Redis, or out of hand.
    func proceed(_ batch: HeldBatch) {
        guard held[batch.number] === batch else { return }
        // Also while a report is under way, or something waits for one: nothing younger may pass.
        if !batch.isCareful { requeue(batch) }
        guard !batch.isReporting else { return }
        switch batch.standing {
        case .ours where mode == .returning || batch.isHalted:
            hasReturns = hasReturns || batch.inAir == 0
        case .ours:
            if batch.isDoubted { report(batch) }
            requeue(batch)
        case .goingBack where batch.mustReportFirst: report(batch)
        case .goingBack: putBack(batch)
        case .stale, .ended:
            if batch.isQuiet { forget(batch) }
        }
    }

    /// Gives batches back of which nothing is in the air, and nothing untold.
    ///
    /// Each goes to the head of its list: the newest first, and none before those that came after it.
    func returnIdle() {
        hasReturns = false
        let leaving = held.values.filter { $0.standing == .ours && (mode == .returning || $0.isHalted) }
        var blocked: Set<Int> = []
        for batch in leaving.sorted(by: { $0.number > $1.number }) {
            let list = batch.shard << 1 | Int(batch.lane.rawValue)
            let isIdle = batch.inAir == 0 && !batch.isReporting
            if isIdle, batch.settled > 0 || batch.isDoubted {
                report(batch)
            } else if isIdle, !blocked.contains(list) {
                putBack(batch)
                continue
            }
            blocked.insert(list)
        }
    }

    /// Others of its list are on their way back: what is younger must not be sent before them, so it follows them.
    func isBehindReturns(_ batch: HeldBatch) -> Bool {
        guard mayHaveReturns else { return false }
        let returns = held.values.filter { $0.standing == .goingBack }
        mayHaveReturns = !returns.isEmpty
        return returns.contains {
            $0.number < batch.number && $0.shard == batch.shard && $0.lane == batch.lane
        }
    }

    private func putBack(_ batch: HeldBatch) {
        guard let token = shards.token(of: batch.shard) else { return forget(batch) }
        batch.goBack()
        mayHaveReturns = true
        batch.beginAsking()
        let call = Call(batch: batch.number, delivery: batch.delivery, token: token)
        let batches = [(id: batch.id, delivery: batch.delivery)]
        actions.append(.putBack(call, PutBack(token: token, worker: worker, batches: batches)))
    }

    /// Redis has taken a batch back, or has not.
    func givenBack(_ call: Call, _ result: Result<Int, StoreError>) {
        guard let batch = held[call.batch] else { return }
        batch.reportFailed()
        guard batch.delivery == call.delivery, batch.standing == .goingBack else { return proceed(batch) }
        switch result {
        case .success(let moved):
            if moved == 0 { unsure.insert(batch.shard) }
            forget(batch)
        case .failure(.fenced) where shards.token(of: batch.shard) != call.token:
            // The token was out of date: the batch still bears our name.
            putBack(batch)
        case .failure(.fenced):
            forget(batch)
            fenced(batch.shard, call.token)
        case .failure: remember(batch, for: Self.retryInterval)
        }
    }

    /// Another owner has the batch; unless only the token was out of date, and there is another by now.
    private func isStale(_ batch: HeldBatch, _ call: Call, _ staleness: Report.Staleness) {
        if staleness == .fenced, let token = shards.tokens[batch.shard], token != call.token { return }
        batch.becomeStale()
        // A Redis that went back may have given us an older delivery of it: that one is looked for.
        if staleness == .redelivered { unsure.insert(batch.shard) }
        if staleness == .fenced { fenced(batch.shard, call.token) }
    }

    private func learn(_ batch: HeldBatch, _ map: [UInt8], granted: Int) {
        let wasDoubted = batch.isDoubted
        batch.isDoubted = false
        let hasForgotten = batch.reconcile(map, granted: granted)
        // Redis may have forgotten a grant: it is asked for again.
        if batch.standing == .ours, batch.granted < batch.count, !partial.contains(where: { $0 === batch }) {
            partial.append(batch)
        }
        if hasForgotten, !wasDoubted, batch.standing == .ours { doubtAll() }
    }

    /// Redis has not done what it was asked: no more is asked for before a while is over.
    func rest() {
        restEnd = now + Self.retryInterval
        delay = delay ?? Self.retryInterval
    }

    func remember(_ batch: HeldBatch, for pause: Duration) {
        delay = min(delay ?? pause, pause)
        guard !batch.isDirty else { return }
        batch.isDirty = true
        dirty.append(batch)
    }

    /// Redis has another owner for a shard; if it was not withdrawn from us, our coordinator has lost it unawares.
    func fenced(_ shard: Int, _ token: FenceToken) {
        guard shards.tokens[shard] == token else { return }
        actions.append(.fenced)
    }
}

extension FenceToken {
    /// Proves nothing: with it facts are taken, decisions are not.
    static var none: FenceToken { FenceToken([]) }
}
