import FarmStore

/// Redis may have gone back in time: what it was told in the last seconds is told again.
extension Window {
    private static let pause = Duration.seconds(1)
    /// Reports from the ring that are under way at a time.
    private static let repeatsAtOnce = 128

    /// There is a connection to Redis again. Calls that had no answer have failed before.
    ///
    /// - Parameter isOther: it is another Redis than before, or was restarted.
    func reconnected(isOther: Bool) {
        restEnd = nil
        if isOther { lastDoubt = nil }
        if isOther { doubtAll() }
        reportDirty()
    }

    /// Every batch in hand is compared with Redis's map, every report in the ring is made again, and batches are looked
    /// for that Redis believes to be ours.
    func doubtAll() {
        if let lastDoubt, lastDoubt + Self.pause > now { return }
        lastDoubt = now
        for batch in held.values where batch.standing == .ours || batch.standing == .goingBack {
            batch.isDoubted = true
            report(batch)
        }
        unsure = Set(shards.tokens.keys).union(shards.leaving.keys)
        repeatAll()
    }

    /// Looks for batches that Redis believes to be ours and that we do not know of: a call that had no answer may have
    /// been carried out late, after the last look.
    func lookAround() { unsure.formUnion(shards.tokens.keys) }

    /// Makes the reports in the ring once more.
    func repeatAll() {
        ring.repeatAll(at: now)
        repeatFacts()
    }

    func repeatFacts() {
        while repeating < Self.repeatsAtOnce, let past = ring.nextRepeat() {
            for report in past.reports {
                repeating += 1
                actions.append(
                    .repeated(
                        Report(
                            token: shards.token(of: past.id.shard) ?? .none, worker: worker, batch: past.id,
                            delivery: past.delivery, wanted: 0, isFactsOnly: report.areFacts,
                            runs: report.runs, entry: report.entry)))
            }
        }
    }

    /// Redis has answered a report from the ring, or has not.
    func repeated(_ report: Report, _ result: Result<Report.Reply, StoreError>) {
        repeating -= 1
        switch result {
        case .failure:
            // All of them once more: which ones had an answer does not matter.
            ring.repeatAll(at: now)
            delay = delay ?? .milliseconds(200)
        case .success(.taken(let state)):
            if !state.isDone { actions.append(.hasReported) }
            repeatFacts()
        case .success: repeatFacts()
        }
    }
}
