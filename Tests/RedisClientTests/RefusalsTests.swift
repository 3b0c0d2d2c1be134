import PushModel
import RedisProtocol
import Testing

@testable import RedisClient
@testable import StoreProtocol

extension StoreFixture {
    /// Simulates many refused jobs in this minute: `written` jobs have an event, and `pending` jobs have no event yet.
    /// - Parameter age: the milliseconds since the last event. By default the event is in the future, so no event is due
    ///   even in a slow test.
    func flood(written: Int, pending: Int, duplicates: Int = 0, age: Int64 = -30_000) throws {
        let time = try redis.run("TIME").array?.compactMap { $0.text.flatMap { Int64($0) } } ?? []
        let now = time[0] * 1000 + time[1] / 1000
        try redis.run(
            "HSET", "{pushfarm:demo}:refusals", "since", "\(now)", "events", "\(written)", "last_event_at",
            "\(now - age)", "pending_refused", "\(pending)", "pending_duplicates", "\(duplicates)")
    }
}

/// Checks that refused jobs and duplicates are counted exactly, and that many refused jobs do not remove other events.
@Suite struct RefusalsTests {
    let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    private static let updateAdmission = UpdateAdmission(
        memory: .keep, limitsIntake: false, retryAfter: .milliseconds(500),
        limits: AppLimits(backlog: 1000, inbox: 100_000, inboxBytes: 1 << 30, jobBytes: 1 << 20),
        jobRecordSeconds: 600)

    private func refuse(step: Int, duplicate: Bool = false) throws -> Refuse.Reply {
        try fixture.redis.run("RPUSH", "{pushfarm:demo}:taken", "bad")
        return try fixture.perform(
            Refuse(
                token: fixture.token, step: step, job: duplicate ? "j" : nil, field: duplicate ? "id" : "job",
                position: 0, reason: "why", original: Array("bad".utf8), isDuplicate: duplicate))
    }

    private func events(_ type: String) throws -> [[String: String]] {
        try fixture.events().filter { $0["type"] == type }
    }

    private func jobs(_ events: [[String: String]]) -> Int {
        events.reduce(0) { $0 + ($1["jobs"].flatMap { Int($0) } ?? 1) }
    }

    private func counts() throws -> ReadRefusals.Reply { try fixture.perform(ReadRefusals()) }

    @Test func `each of a few refused jobs has its event, its original and its count`() throws {
        for step in 1...20 { #expect(try refuse(step: step) == .eventWritten) }
        #expect(
            try events("job.refused").count == 20 && events("job.refused").allSatisfy { $0["jobs"] == nil })
        let kept = try fixture.perform(ReadRefused(.after(nil)))
        #expect(kept.count == 20 && kept.allSatisfy { $0.count == 1 && $0.original == Array("bad".utf8) })
        #expect(try counts().refused == 20 && counts().minute + counts().before == 20)
    }

    @Test func `many refusals are counted exactly and reported in few events with counts`()
        throws
    {
        let flood = 3000
        var written = 0
        for step in 1...flood where try refuse(step: step) == .eventWritten { written += 1 }
        let before = try events("job.refused")
        #expect(before.count == written && written < flood)
        #expect(jobs(before) <= flood)
        #expect(try counts().refused == flood)
        // An admission update at least a second after the last event writes one event for all jobs without an event.
        try fixture.redis.run("HSET", "{pushfarm:demo}:refusals", "last_event_at", "1000")
        try fixture.perform(Self.updateAdmission)
        #expect(try jobs(events("job.refused")) == flood)
        try fixture.perform(Self.updateAdmission)
        #expect(try jobs(events("job.refused")) == flood)
        let kept = try fixture.perform(ReadRefused(.after(nil), count: flood))
        #expect(kept.count == written && kept.reduce(0) { $0 + $1.count } == jobs(before))
    }

    @Test func `a hundred refusals in a minute have their own events and later one a second`() throws {
        try fixture.flood(written: 99, pending: 0)
        #expect(try refuse(step: 1) == .eventWritten)
        try fixture.flood(written: 100, pending: 5, age: 1000)
        #expect(try refuse(step: 2) == .eventWritten)
        #expect(try events("job.refused").map { $0["jobs"] } == [nil, "6"])
        #expect(try counts().refused == 2)
    }

    @Test func `a new minute starts with a hundred own events`() throws {
        try fixture.flood(written: 5000, pending: 3)
        let since = try counts().since
        try fixture.redis.run("HSET", "{pushfarm:demo}:refusals", "since", "\(since - 60_000)", "minute", "7")
        #expect(try refuse(step: 1) == .eventWritten)
        #expect(try counts().minute == 1 && counts().before == 7)
        #expect(try events("job.refused").map { $0["jobs"] } == ["4"])
    }

    @Test func `a duplicate has its own event type and keeps no refused job`() throws {
        #expect(try refuse(step: 1, duplicate: true) == .eventWritten)
        let event = try #require(try events("job.duplicate").first)
        #expect(event["job"] == "j" && event["jobs"] == nil)
        #expect(try events("job.refused").isEmpty)
        #expect(try fixture.perform(ReadRefused(.latest)).isEmpty)
        #expect(try counts().duplicates == 1 && counts().refused == 0 && counts().minute == 0)
        #expect(try fixture.redis.run("LLEN", "{pushfarm:demo}:taken").integer == 0)
    }

    @Test func `jobs that are too large are counted like others`() throws {
        for _ in 0..<3 { try fixture.perform(PushJob(job: [UInt8](repeating: 65, count: 200))) }
        _ = try fixture.perform(
            Take(token: fixture.token, known: 0, maxJobs: 9, maxBytes: 1000, maxJobBytes: 100))
        #expect(try counts().refused == 3 && events("job.refused").count == 3)
    }
}
