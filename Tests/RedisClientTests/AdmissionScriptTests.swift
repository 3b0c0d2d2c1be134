import PushModel
import RedisProtocol
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// Checks how scripts count open pushes and decide admission, and the function that producers call to submit jobs.
@Suite struct AdmissionScriptTests {
    let fixture: StoreFixture
    init() throws {
        fixture = try StoreFixture()
        _ = try fixture.redis.run(ScriptFolder.functionCommand())
    }

    private static let wide = AppLimits(backlog: 1000, inbox: 100, inboxBytes: 1 << 20, jobBytes: 1 << 10)

    @discardableResult
    private func updateAdmission(
        _ memory: UpdateAdmission.Memory = .keep, held: Bool = false, _ limits: AppLimits = wide
    ) throws -> UpdateAdmission.Reply {
        try fixture.perform(
            UpdateAdmission(
                memory: memory, limitsIntake: held, retryAfter: .milliseconds(500), limits: limits,
                jobRecordSeconds: 600))
    }

    @discardableResult
    private func updateAdmission(_ limits: AppLimits) throws -> UpdateAdmission.Reply {
        try updateAdmission(.keep, limits)
    }

    private func submit(_ text: String = SubmitTests.job(), id: String = "") throws -> SubmitJob.Reply {
        try fixture.perform(SubmitJob(job: Array(text.utf8), id: id))
    }

    private func open() throws -> Int { try fixture.perform(ReadDepths(shards: StoreFixture.shards)).open }

    private func take(_ most: Int = 10) throws -> Take.Reply {
        try fixture.perform(
            Take(token: fixture.token, known: 0, maxJobs: most, maxBytes: 1 << 20, maxJobBytes: 1 << 20))
    }

    private func fullEvents() throws -> [String] {
        try fixture.events().compactMap { event in
            event["type"].flatMap { $0.hasPrefix("admission.") ? "\($0) \(event["reason"] ?? "")" : nil }
        }
    }

    // MARK: The count

    @Test func `open pushes are counted from the split to their outcome with retries`() throws {
        try fixture.split(step: 1, [("j1", 3), ("j2", 4)])
        #expect(try open() == 7)
        #expect(try fixture.perform(fixture.splitRequest(step: 1, [("j1", 3), ("j2", 4)])) == .doneBefore)
        #expect(try open() == 7)
        let batch = try #require(try fixture.checkout().batches.first)
        _ = try fixture.report(batch, 0..<3, entry: StoreFixture.delivered("j1", 3))
        #expect(try open() == 7 && fixture.audit() == [])
        var settlement = StoreFixture.settlement(try fixture.results()[0], "j1", delivered: 1)
        (settlement.jobs[0].failed, settlement.jobs[0].delayed) = (1, 1)
        settlement.retries = [
            .init(
                shard: 1, lane: .high, delay: .zero, tokens: 1,
                body: StoreFixture.body([("j1", 1)], attempt: 1))
        ]
        try fixture.perform(Settle([settlement]))
        try fixture.perform(Settle([settlement]))
        #expect(try open() == 5 && fixture.audit() == [])
    }

    @Test func `the audit reports a wrong count`() throws {
        try fixture.split([("j1", 3)])
        #expect(try fixture.audit() == [])
        try fixture.redis.run("HINCRBY", "{pushfarm:demo}:load", "open", "2")
        #expect(try fixture.audit() == ["load 5 of 3 open"])
    }

    // MARK: The intake

    @Test func `jobs of an app at its limit stay in the inbox until there is room`() throws {
        try fixture.split(step: 1, [("j1", 3)])
        try fixture.perform(PushJob(job: Array("job".utf8)))
        var limits = Self.wide
        limits.backlog = 3
        try updateAdmission(limits)
        let full = try take()
        #expect(full.jobs.isEmpty && full.heldBack != nil)
        #expect(try fixture.redis.run("LLEN", "pushfarm:demo").integer == 1)
        let batch = try #require(try fixture.checkout().batches.first)
        _ = try fixture.report(batch, 0..<1, entry: StoreFixture.delivered("j1", 1))
        try fixture.perform(Settle([StoreFixture.settlement(try fixture.results()[0], "j1", delivered: 1)]))
        let freed = try take()
        #expect(freed.jobs.count == 1 && freed.heldBack == nil)
        // Even if the app is full, `take` returns jobs that are no longer in the inbox, because the intake took them earlier.
        limits.backlog = 1
        try updateAdmission(limits)
        #expect(try take().jobs.count == 1)
    }

    @Test(arguments: [true, false])
    func `the intake takes few jobs while it is paused`(isByMemory: Bool) throws {
        func queue(_ batches: Int, _ command: String, _ key: String) throws {
            var words = [command, "{pushfarm:demo}:\(key)"]
            for number in 0..<batches {
                words += key == "delayed" ? ["9", "\(number)"] : ["\(number)", "x"]
            }
            var line = RESPCommand()
            for word in words { line.append(word) }
            try fixture.redis.run(line)
        }
        func take(known: Int) throws -> Take.Reply {
            try fixture.perform(
                Take(token: fixture.token, known: known, maxJobs: 9, maxBytes: 1000, maxJobBytes: 1000))
        }
        try fixture.perform(PushJob(job: Array("job".utf8)))
        try updateAdmission(isByMemory ? .full : .keep, held: !isByMemory)
        try queue(128, "HSET", "states")
        #expect(try take(known: 0).heldBack != nil)
        // The reply must tell the intake to wait even if the inbox is empty. Otherwise the intake would block until the next
        // job arrives, and would take this job.
        try fixture.redis.run("RENAME", "pushfarm:demo", "{pushfarm:demo}:aside")
        #expect(try take(known: 0).heldBack != nil)
        try fixture.redis.run("RENAME", "{pushfarm:demo}:aside", "pushfarm:demo")
        // Delayed batches do not count among the batches that stop the intake, because a delay may last for days.
        try queue(1, "ZADD", "delayed")
        #expect(try take(known: 0).jobs.count == 1)
        try fixture.redis.run("DEL", "{pushfarm:demo}:delayed")
        try fixture.perform(PushJob(job: Array("job".utf8)))
        #expect(try take(known: 1).heldBack != nil)
        try fixture.redis.run("HDEL", "{pushfarm:demo}:states", "5")
        // Open pushes stop the intake too, if their number reaches the limit.
        try fixture.redis.run("HSET", "{pushfarm:demo}:load", "open", "1000")
        #expect(try take(known: 1).heldBack != nil)
        try fixture.redis.run("HSET", "{pushfarm:demo}:load", "open", "999")
        #expect(try take(known: 1).jobs.count == 1)
        try fixture.perform(PushJob(job: Array("job".utf8)))
        try queue(200, "HSET", "states")
        #expect(try take(known: 2).heldBack != nil)
        try updateAdmission(.relieved)
        #expect(try take(known: 2).jobs.count == 1)
    }

    // MARK: Admission

    @Test func `full and relieved are each reported once for any number of updates`() throws {
        #expect(try updateAdmission() == .init(full: nil, isNew: false, open: 0, inbox: 0, batches: 0))
        #expect(
            try updateAdmission(.full) == .init(full: .memory, isNew: true, open: 0, inbox: 0, batches: 0))
        #expect(
            try updateAdmission(.full) == .init(full: .memory, isNew: false, open: 0, inbox: 0, batches: 0))
        // `.keep` says that memory use is between the two marks, so the app stays full.
        #expect(try updateAdmission(.keep).full == .memory)
        let since = try #require(try fixture.perform(ReadAppState()).full?.since)
        #expect(since > 1_700_000_000_000)
        #expect(
            try updateAdmission(.relieved) == .init(full: nil, isNew: true, open: 0, inbox: 0, batches: 0))
        #expect(try updateAdmission(.relieved).isNew == false && updateAdmission(.keep).full == nil)
        #expect(try fullEvents() == ["admission.closed memory", "admission.opened memory"])
        #expect(try fixture.perform(ReadAppState()).full == nil)
        #expect(try fixture.perform(ReadAppState()).pause == nil)
    }

    @Test func `an app over its own limit is full until it falls below nine tenths of it`() throws {
        var limits = Self.wide
        limits.backlog = 10
        try fixture.split([("j1", 9)])
        #expect(try updateAdmission(limits).full == nil)
        try fixture.perform(PushJob(job: Array("job".utf8)))
        #expect(
            try updateAdmission(limits) == .init(full: .backlog, isNew: true, open: 9, inbox: 1, batches: 1))
        try fixture.redis.run("DEL", "pushfarm:demo")
        #expect(try updateAdmission(limits).full == .backlog)
        let batch = try #require(try fixture.checkout().batches.first)
        _ = try fixture.report(batch, 0..<1, entry: StoreFixture.delivered("j1", 1))
        try fixture.perform(Settle([StoreFixture.settlement(try fixture.results()[0], "j1", delivered: 1)]))
        #expect(try updateAdmission(limits) == .init(full: nil, isNew: true, open: 8, inbox: 0, batches: 1))
        #expect(try fullEvents() == ["admission.closed backlog", "admission.opened backlog"])
    }

    @Test func `batches that workers may send are counted`() throws {
        try fixture.split([("j1", 9)])
        #expect(try updateAdmission().batches == 1)
        _ = try #require(try fixture.checkout().batches.first)
        #expect(try updateAdmission().batches == 1)
        try fixture.redis.run("ZADD", "{pushfarm:demo}:delayed", "1", "12.h.1.1")
        try fixture.redis.run("HSET", "{pushfarm:demo}:states", "12.h.1.1", "|0|0||1|.")
        #expect(try updateAdmission().batches == 1)
        try fixture.perform(PauseApp(reason: "why"))
        #expect(try updateAdmission().batches == 0)
    }

    @Test func `a pause and admission are independent`() throws {
        try updateAdmission(.full)
        try fixture.perform(PauseApp(reason: "why"))
        try fixture.perform(ResumeApp())
        #expect(try updateAdmission(.keep).full == .memory)
        try fixture.perform(PauseApp(reason: "why"))
        try updateAdmission(.relieved)
        #expect(try fixture.perform(ReadAppState()).pause?.reason == "why")
    }

    // MARK: The function

    @Test func `an acceptable job is pushed unchanged`() throws {
        let (first, second) = (SubmitTests.job(), SubmitTests.job(#""lane" : "bulk""#))
        try updateAdmission()
        #expect(try submit(first) == .accepted(waiting: 1))
        #expect(try submit(second, id: "b") == .accepted(waiting: 2))
        let jobs = try fixture.redis.run("LRANGE", "pushfarm:demo", "0", "-1").array?.compactMap(\.text)
        #expect(jobs == [first, second])
    }

    @Test func `producers wait while the farm is full and return at random times`() throws {
        try updateAdmission(.full)
        var pauses: Set<Duration> = []
        for _ in 0..<50 {
            guard case .busy(let pause, "memory") = try submit() else {
                Issue.record("not busy")
                continue
            }
            #expect(pause >= .milliseconds(500) && pause < .milliseconds(1000))
            pauses.insert(pause)
        }
        #expect(pauses.count > 1)
        #expect(try fixture.redis.run("LLEN", "pushfarm:demo").integer == 0)
        // A job that a producer pushes with RPUSH is never refused because the app is full.
        try fixture.perform(PushJob(job: Array("job".utf8)))
        try updateAdmission(.relieved)
        #expect(try submit() == .accepted(waiting: 2))
    }

    @Test func `an app's own limits apply at once between two updates`() throws {
        func reason(_ limits: AppLimits, _ text: String = SubmitTests.job()) throws -> String? {
            try updateAdmission(limits)
            guard case .busy(_, let reason) = try submit(text) else { return nil }
            return reason
        }
        try fixture.split([("j1", 9)])
        var limits = Self.wide
        limits.backlog = 10
        #expect(try reason(limits) == nil)
        // No admission update happens between the two calls of `submit`, so the first job must count at once.
        guard case .busy(_, "backlog") = try submit() else {
            Issue.record("not busy")
            return
        }
        limits = Self.wide
        limits.inbox = 2
        #expect(try reason(limits) == nil)
        guard case .busy(_, "inbox") = try submit() else {
            Issue.record("not busy")
            return
        }
        limits = Self.wide
        limits.inboxBytes = 1000
        #expect(try reason(limits, SubmitTests.job(bytes: 1000)) == "inbox")
        try fixture.redis.run("DEL", "pushfarm:demo")
        #expect(try reason(limits, SubmitTests.job(bytes: 1000)) == nil)
    }

    @Test func `a job that is too large is always refused`() throws {
        try updateAdmission()
        #expect(try submit(SubmitTests.job(bytes: 1024)) == .accepted(waiting: 1))
        let large = try submit(SubmitTests.job(bytes: 1025))
        #expect(large == .refused(reason: "larger than 1024 bytes: 1025"))
    }

    @Test func `a known id is a duplicate until it is a day old`() throws {
        try updateAdmission()
        try fixture.split([("j1", 1)])
        #expect(try submit(id: "j1") == .duplicate)
        #expect(try submit(id: "j2") == .accepted(waiting: 1))
        try updateAdmission(.full)
        #expect(try submit(id: "j1") == .duplicate)
        try updateAdmission(.relieved)
        try fixture.redis.run("HSET", "{pushfarm:demo}:job:j1", "state", "finished")
        #expect(try submit(id: "j1") == .duplicate)
        try fixture.redis.run("HSET", "{pushfarm:demo}:job:j1", "created_at", "1700000000000")
        #expect(try submit(id: "j1") == .accepted(waiting: 2))
        try fixture.redis.run("HSET", "{pushfarm:demo}:job:j1", "state", "open")
        #expect(try submit(id: "j1") == .duplicate)
    }

    @Test(arguments: [
        ["0", "job"], ["1", "pushfarm:demo"], ["1", "elsewhere", "job"], ["1", "pushfarm:", "job"],
        ["2", "pushfarm:demo", "pushfarm:other", "job"], ["1", "pushfarm:demo", "job", "id", "more"],
    ])
    func `a wrong call is an error with a usage text`(words: [String]) throws {
        var command = RESPCommand("FCALL", FunctionLibrary.submit)
        for word in words { command.append(word) }
        let error = try #require(try fixture.redis.run(command).error)
        #expect(error.message.hasPrefix("ERR usage: FCALL pushfarm_submit 1 pushfarm:APP JOB [ID]"))
    }

    @Test func `a library reports its version`() {
        #expect(FunctionLibrary.version(of: FunctionLibrary.text) >= 1)
        #expect(FunctionLibrary.version(of: Array("#!lua name=pushfarm\n-- version 12\nx".utf8)) == 12)
        #expect(FunctionLibrary.version(of: Array("#!lua name=pushfarm\n-- vision 12\nx".utf8)) == 0)
        #expect(FunctionLibrary.version(of: []) == 0)
    }
}
