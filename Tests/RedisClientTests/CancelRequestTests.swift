import RedisProtocol
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// Checks the function that producers call to cancel a job, and the script that executes these requests.
@Suite struct CancelRequestTests {
    let fixture: StoreFixture
    init() throws {
        fixture = try StoreFixture()
        _ = try fixture.redis.run(ScriptFolder.functionCommand())
    }

    private static let requests = "{pushfarm:demo}:cancel_requests"

    @discardableResult private func updateAdmission() throws -> UpdateAdmission.Reply {
        try fixture.perform(ScriptCase.updateAdmission())
    }

    private func cancel(_ job: String, app: String = "demo") throws -> [String] {
        let reply = try fixture.redis.run("FCALL", FunctionLibrary.cancel, "1", "pushfarm:\(app)", job)
        return reply.array?.map { $0.text ?? "\($0.integer ?? -1)" } ?? []
    }

    private func waiting() throws -> Int64? { try fixture.redis.run("LLEN", Self.requests).integer }

    @Test func `an open job is cancelled at the next update of admission`() throws {
        try updateAdmission()
        try fixture.split([("a", 3), ("b", 2)])
        #expect(try cancel("a") == ["OK", "0", "open"] && waiting() == 1)
        try updateAdmission()
        #expect(try waiting() == 0)
        let request = ReadPauses(.cancels)
        let cancels = request.pauses(try fixture.perform(request))
        #expect(cancels.map(\.text) == ["a"] && cancels.first?.by == "producer")
        let event = try #require(try fixture.events().last)
        #expect(event["type"] == "job.cancelled" && event["job"] == "a" && event["by"] == "producer")
        _ = try fixture.perform(CancelBatches(try fixture.perform(ScanBatches(cursor: "0")).items))
        #expect(try fixture.jobRecord("a").cancelled == 3 && fixture.jobRecord("b").cancelled == 0)
        #expect(try fixture.audit() == [])
    }

    @Test func `a repeated request cancels nothing more`() throws {
        try updateAdmission()
        try fixture.split([("a", 3)])
        for _ in 1...3 { #expect(try cancel("a") == ["OK", "0", "open"]) }
        try updateAdmission()
        #expect(try waiting() == 0)
        #expect(try fixture.events().filter { $0["type"] == "job.cancelled" }.count == 1)
    }

    @Test func `a job that waits in the inbox is cancelled when it is split`() throws {
        try updateAdmission()
        try fixture.perform(PushJob(job: Array("job".utf8)))
        #expect(try cancel("later") == ["OK", "0", "expected"])
        try updateAdmission()
        #expect(try fixture.redis.run("HEXISTS", "{pushfarm:demo}:cancels", "later").integer == 1)
    }

    @Test(arguments: ["taken", "lookups", "campaigns", "campaigns_taken"])
    func `a job or campaign without a job record may be cancelled while inputs wait`(list: String) throws {
        try updateAdmission()
        try fixture.redis.run("RPUSH", "{pushfarm:demo}:\(list)", "input")
        #expect(try cancel("later") == ["OK", "0", "expected"])
        try updateAdmission()
        #expect(try fixture.redis.run("HEXISTS", "{pushfarm:demo}:cancels", "later").integer == 1)
    }

    @Test func `a finished job and an unknown name change nothing`() throws {
        #expect(try cancel("a")[0] == "BUSY")
        try updateAdmission()
        try fixture.redis.run("SADD", "{pushfarm}:apps", "demo")
        try fixture.redis.run("HSET", "{pushfarm:demo}:job:done", "state", "finished")
        #expect(try cancel("done") == ["OK", "0", "finished"])
        #expect(try cancel("nobody") == ["REFUSED", "0", "unknown job \"nobody\""])
        #expect(
            try cancel("a", app: "dem") == ["REFUSED", "0", "unknown app \"dem\"; did you mean \"demo\"?"])
        #expect(try waiting() == 0)
    }

    @Test func `requests wait while the app has too many cancelled jobs, and their number is bounded`() throws
    {
        try updateAdmission()
        try fixture.split([("a", 1)])
        var marks = ["HSET", "{pushfarm:demo}:cancels"]
        for number in 1...1000 { marks += ["j\(number)", "4000000000000 4000000000000 600 me"] }
        try fixture.run(marks)
        for _ in 1...1000 { #expect(try cancel("a") == ["OK", "0", "open"]) }
        let busy = try cancel("a")
        #expect(busy[0] == "BUSY" && busy[2] == "cancels")
        #expect((500..<1000).contains(Int(busy[1]) ?? 0))
        try updateAdmission()
        #expect(try waiting() == 1000)
        try fixture.redis.run("HDEL", "{pushfarm:demo}:cancels", "j1")
        try updateAdmission()
        #expect(try waiting() == 900)
    }

    @Test func `a request for a job that is not found is answered by an event`() throws {
        try updateAdmission()
        try fixture.perform(PushJob(job: Array("job".utf8)))
        #expect(try cancel("later") == ["OK", "0", "expected"])
        try fixture.redis.run("DEL", "pushfarm:demo")
        for _ in 1...2 { try updateAdmission() }
        let events = try fixture.events().filter { $0["type"] == "job.cancel_refused" }
        #expect(events.count == 1 && events[0]["job"] == "later" && events[0]["reason"] == "unknown job")
        #expect(try waiting() == 0)
    }

    @Test func `requests beyond the limit are dropped with an event`() throws {
        try updateAdmission()
        try fixture.split([("a", 1)])
        var push = ["RPUSH", Self.requests]
        for _ in 1...1200 { push.append("a") }
        try fixture.run(push)
        try updateAdmission()
        #expect(try waiting() == 1000)
        let events = try fixture.events().filter { $0["type"] == "job.cancel_refused" }
        #expect(events.count == 1 && events[0]["jobs"] == "100" && events[0]["reason"] == "too many requests")
    }

    @Test func `a list of another type stops nothing else`() throws {
        try fixture.redis.run("SET", Self.requests, "x")
        try updateAdmission()
        #expect(try fixture.redis.run("GET", Self.requests).text == "x")
    }

    @Test(arguments: [
        ["0", "job"], ["1", "pushfarm:demo"], ["1", "elsewhere", "job"], ["1", "pushfarm:", "job"],
        ["1", "pushfarm:demo", "job", "more"],
    ])
    func `a wrong call is an error with a usage text`(words: [String]) throws {
        var command = RESPCommand("FCALL", FunctionLibrary.cancel)
        for word in words { command.append(word) }
        let error = try #require(try fixture.redis.run(command).error)
        #expect(error.message.hasPrefix("ERR usage: FCALL pushfarm_cancel 1 pushfarm:APP ID"))
    }
}
