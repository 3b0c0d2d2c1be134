import ChaosChecker
import Testing

/// Tests of the checker: it must find each forged ledger line and name the job, push or shard.
struct CheckerTests {
    @Test func `a correct run has no complaints`() {
        let verdict = SampleRun().verdict
        #expect(verdict.complaints == [])
        #expect(verdict.pushes == 8 && verdict.delivered == 6 && verdict.duplicates == 1 && verdict.lost == 0)
        #expect(verdict.maybeDuplicated == 1 && verdict.recovery == 10)
    }

    // MARK: One line removed or repeated

    @Test(arguments: SampleRun().evidence.producers.indices)
    func `a missing line of a producer is noticed`(index: Int) {
        var run = SampleRun()
        let note = run.evidence.producers.remove(at: index)
        #expect(run.verdict.complaints.contains { $0.text.contains("job \(note.job)") })
    }

    @Test(arguments: SampleRun().evidence.producers.indices)
    func `a repeated line of a producer is noticed`(index: Int) {
        var run = SampleRun()
        let note = run.evidence.producers[index]
        run.evidence.producers.insert(note, at: index)
        #expect(run.verdict.complaints.contains { $0.kind == .ledger && $0.text.contains("job \(note.job)") })
    }

    @Test(arguments: SampleRun().evidence.gateway.indices)
    func `a missing request is noticed`(index: Int) {
        var run = SampleRun()
        let note = run.evidence.gateway.remove(at: index)
        let isLast = !run.evidence.gateway.contains {
            $0.connection == note.connection && $0.stream > note.stream
        }
        let complaints = run.verdict.complaints
        #expect(!complaints.isEmpty)
        // The last request of a connection leaves no gap in the stream numbers, so the complaint must name its push.
        if isLast { #expect(complaints.contains { $0.text.contains(note.token) }) }
    }

    @Test(arguments: SampleRun().evidence.gateway.indices)
    func `a repeated request is noticed`(index: Int) {
        var run = SampleRun()
        let note = run.evidence.gateway[index]
        run.evidence.gateway.insert(note, at: index)
        #expect(
            run.verdict.complaints.contains {
                $0.kind == .ledger && $0.text.contains("connection \(note.connection)")
            })
    }

    @Test func `a stream that was refused unread belongs to no push and leaves no gap`() throws {
        var run = SampleRun()
        var note = try #require(
            run.evidence.gateway.filter { $0.connection == 1 }.max { $0.stream < $1.stream })
        (note.stream, note.job, note.token) = (note.stream + 2, "", "")
        (note.status, note.reason) = (0, "REFUSED_STREAM")
        run.evidence.gateway.append(note)
        #expect(run.verdict.isGood)
        run.evidence.gateway[run.evidence.gateway.count - 1].status = 200
        #expect(run.verdict.unexpected == 1)
    }

    @Test(arguments: SampleRun().evidence.events.indices)
    func `a missing event is noticed`(index: Int) {
        var run = SampleRun()
        let event = run.evidence.events.remove(at: index)
        #expect(run.verdict.complaints.contains { $0.text.contains("job \(event.job)") })
    }

    @Test(arguments: SampleRun().evidence.events.indices)
    func `a repeated event is noticed`(index: Int) {
        var run = SampleRun()
        let event = run.evidence.events[index]
        run.evidence.events.insert(event, at: index)
        #expect(run.verdict.complaints.contains { $0.kind == .events && $0.text.contains(event.job) })
    }

    @Test(arguments: [0, 1]) func `a missing or repeated observation is noticed`(index: Int) {
        var run = SampleRun()
        run.evidence.notes.insert(run.evidence.notes[index], at: index)
        #expect(run.verdict.complaints.contains { $0.kind == .ledger })
        run = SampleRun()
        run.evidence.notes.insert(JobRecordsNote(number: 2, at: 1_100, jobRecords: nil), at: 1)
        run.evidence.notes[2].number = 3
        #expect(run.verdict.isGood)
        run.evidence.notes.remove(at: 1)
        #expect(run.verdict.complaints.contains { $0.kind == .ledger })
    }

    @Test(arguments: ["a", "b", "c"]) func `a missing job record is noticed`(job: String) {
        var run = SampleRun()
        run.evidence.notes[1].jobRecords?[job] = nil
        #expect(run.verdict.complaints.contains { $0.kind == .accounting && $0.text.contains("job \(job)") })
    }

    // MARK: One line changed

    @Test(arguments: SampleRun().evidence.gateway.indices)
    func `a request for another token is unexpected`(index: Int) {
        var run = SampleRun()
        run.evidence.gateway[index].token = "ffff"
        #expect(run.verdict.unexpected == 1)
        #expect(run.verdict.complaints.contains { $0.kind == .unexpected && $0.text.contains("ffff") })
    }

    @Test(arguments: SampleRun().evidence.gateway.indices)
    func `a changed status of a request contradicts the job record`(index: Int) {
        var run = SampleRun()
        let note = run.evidence.gateway[index]
        run.evidence.gateway[index].status = note.status == 200 ? 500 : 200
        run.evidence.gateway[index].reason = ""
        // A duplicated push has two requests. If one request changes, the push stays delivered and is no longer a duplicate.
        guard note.job != "a" || note.token != "a2" else { return }
        #expect(
            run.verdict.complaints.contains {
                $0.text.contains(note.token) || $0.text.contains("job \(note.job)")
            }
        )
    }

    @Test(
        arguments: ["a", "b", "c"],
        ["submitted", "accepted", "delivered", "failed", "expired", "delayed", "in_flight", "created_at"])
    func `a changed number at the end of the run is noticed`(job: String, field: String) {
        for change in [-1, 1] {
            var run = SampleRun()
            let old = run.evidence.notes[1].jobRecords?[job]?[field].flatMap { Int($0) } ?? 0
            run.evidence.notes[1].jobRecords?[job]?[field] = "\(old + change)"
            #expect(run.verdict.complaints.contains { $0.text.contains("job \(job)") }, "\(change)")
        }
    }

    @Test(arguments: ["submitted", "accepted", "in_flight", "failed"])
    func `a wrong number in the middle of the run is noticed`(field: String) {
        var run = SampleRun()
        run.evidence.notes[0].jobRecords?["a"]?[field] = "9"
        #expect(run.verdict.wrongSums > 0)
        #expect(run.verdict.complaints.contains { $0.kind == .accounting && $0.text.contains("job a at") })
    }

    @Test func `a counted delivery that did not reach the gateway is a false claim`() {
        var run = SampleRun()
        run.evidence.notes[1].jobRecords?["c"]?["delivered"] = "2"
        run.evidence.notes[1].jobRecords?["c"]?["failed"] = "0"
        run.evidence.notes[1].jobRecords?["c"]?["reason:unknown"] = "0"
        #expect(run.verdict.complaints.contains { $0.kind == .falseClaim && $0.text.contains("job c") })
    }

    @Test func `more duplicates than the job record counts are noticed`() {
        var run = SampleRun()
        run.evidence.notes[1].jobRecords?["a"]?["maybe_duplicated"] = "0"
        #expect(run.verdict.complaints.contains { $0.kind == .duplicated && $0.text.contains("job a") })
    }

    @Test func `more duplicates than the faults explain are noticed`() {
        var run = SampleRun()
        run.expectation.doubles = 0
        #expect(run.verdict.complaints.contains { $0.kind == .duplicated })
    }

    @Test func `a failure without a reason from the gateway counts as a loss`() {
        for (reason, status) in [
            ("Unregistered", "400"), ("BadTopic", "410"), ("unknown", ""), ("poison", ""), ("lost", ""),
            ("suppressed", ""),
        ] {
            var run = SampleRun()
            let index = run.evidence.events.firstIndex { $0.token == "dead" } ?? 0
            run.evidence.events[index].fields["reason"] = reason
            run.evidence.events[index].fields["status"] = status
            if reason == "suppressed" { run.evidence.gateway[2].status = 400 }
            #expect(
                run.verdict.complaints.contains { $0.kind == .lost && $0.text.contains("dead") }, "\(reason)")
        }
    }

    @Test func `an accepted push without any later record is lost`() {
        var run = SampleRun()
        run.evidence.gateway.removeAll { $0.token == "c1" }
        #expect(run.verdict.lost == 1)
        #expect(run.verdict.complaints.contains { $0.kind == .lost && $0.text.contains("c1") })
    }

    @Test func `a push that overtakes an earlier job is noticed`() {
        var run = SampleRun()
        let first = run.evidence.gateway.firstIndex { $0.job == "a" && $0.token == "a1" } ?? 0
        let second = run.evidence.gateway.firstIndex { $0.job == "b" && $0.token == "a1" } ?? 0
        run.evidence.gateway[first].job = "b"
        run.evidence.gateway[second].job = "a"
        #expect(run.verdict.complaints.contains { $0.kind == .order && $0.text.contains("a1") })
    }

    @Test func `two connections that alternate for a shard are noticed`() {
        var run = SampleRun()
        // The connections alternate: 1, 2, 1, 2, 1.
        for note in run.evidence.gateway { run.evidence.shards[note.token] = 7 }
        #expect(run.verdict.complaints.contains { $0.kind == .senders && $0.text.contains("shard 7") })
        run.expectation.hasOneSender = false
        #expect(run.verdict.isGood && run.verdict.overlaps > 0)
        run.expectation.hasOneSender = true
        // The time between the requests is long enough for a hand-over to the other worker and back.
        for index in run.evidence.gateway.indices { run.evidence.gateway[index].at += Int64(index) * 6_000 }
        #expect(run.verdict.overlaps == 0)
        run = SampleRun()
        // The worker with connection 2 took the shard over and was killed, and the worker with connection 1 took the shard
        // back. So the requests of the shard used the connections 1, 2, 1 in this order, which is correct.
        for token in ["a1", "dead", "b1"] { run.evidence.shards[token] = 7 }
        #expect(run.verdict.isGood && run.verdict.overlaps == 0)
    }

    @Test func `a token with requests in flight on two connections is noticed`() {
        var run = SampleRun()
        // The retry of a2 used the other connection 30 ms after the first attempt.
        for time: Int64 in [30, 31] {
            run.expectation.responseTime = time
            let isReported = run.verdict.complaints.contains { $0.kind == .order && $0.text.contains("a2") }
            #expect(isReported == (time == 31), "\(time) ms")
        }
        run.expectation.keepsOrder = false
        #expect(run.verdict.isGood && run.verdict.crossings > 0)
        run.expectation.keepsOrder = true
        for index in run.evidence.producers.indices {
            guard case .attempt(var promise) = run.evidence.producers[index].kind else { continue }
            promise.isOrdered = false
            run.evidence.producers[index].kind = .attempt(promise)
        }
        #expect(run.verdict.crossings == 0)
    }

    @Test func `a delivery that takes too long after a fault is noticed`() {
        var run = SampleRun()
        run.expectation.recovery = 5
        #expect(run.verdict.complaints.contains { $0.kind == .stalled && $0.text.contains("kill worker") })
    }

    @Test func `a job whose acceptance is unknown may exist or not`() {
        var run = SampleRun()
        run.evidence.producers[1].kind = .unknown
        #expect(run.verdict.isGood && run.verdict.recovered == 3)
    }

    @Test func `a trace of a job that Redis refused is noticed`() {
        var run = SampleRun()
        run.evidence.producers[1].kind = .refused
        #expect(run.verdict.complaints.contains { $0.kind == .unexpected && $0.text.contains("job a") })
        #expect(run.verdict.complaints.contains { $0.kind == .accounting && $0.text.contains("job a") })
    }

    @Test func `leftover keys are noticed`() {
        var run = SampleRun()
        run.evidence.leftovers = ["{pushfarm:demo}:in_flight:07"]
        #expect(
            run.verdict.complaints.contains { $0.kind == .accounting && $0.text.contains("in_flight:07") })
    }

    @Test func `losses of a Redis that was reset are listed separately and not blamed on the farm`() {
        var run = SampleRun()
        run.evidence.producers.append(
            ProducerNote(
                at: 2_000, producer: "shop", job: "d", kind: .attempt(ProducerNote.Promise(tokens: ["d1"]))))
        run.evidence.producers.append(
            ProducerNote(at: 2_001, producer: "shop", job: "d", kind: .accepted))
        #expect(run.verdict.complaints.contains { $0.kind == .lost && $0.text.contains("d1") })
        run.expectation.rollBacks = [RollBack(forgotten: 1_990...2_010, away: 2_005...2_010)]
        #expect(run.verdict.isGood && run.verdict.forgotten == 1)
    }

    @Test func `decreasing counts are allowed only when Redis was reset`() throws {
        var run = SampleRun()
        let (first, last) = (run.evidence.notes[0].at, run.evidence.notes[1].at)
        let middle = (first + last) / 2
        var jobRecords = try #require(run.evidence.notes[0].jobRecords)
        jobRecords["b"]?["delivered"] = "1"
        run.evidence.notes.insert(JobRecordsNote(number: 2, at: middle, jobRecords: jobRecords), at: 1)
        run.evidence.notes[0].jobRecords?["b"]?.merge(["delivered": "2", "state": "finished"]) { $1 }
        run.evidence.notes[2].number = 3
        for (away, isGood) in [
            (first + 1...middle - 1, true), (middle - 1...middle + 1, true), (first - 9...first - 1, false),
            (middle + 1...last, false),
        ] {
            run.expectation.rollBacks = [RollBack(forgotten: 0...1, away: away)]
            #expect(run.verdict.isGood == isGood, "\(away): \(run.verdict.complaints)")
        }
    }
}
