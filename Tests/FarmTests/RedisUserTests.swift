import FarmHarness
import Foundation
import RedisProtocol
import Testing

/// A Redis with the users of deploy/users.acl.
@Suite(.startsProcesses) struct RedisUserTests {
    private static let password = "a-password-of-this-test"

    private func farm(_ change: (inout Farm.Options) -> Void = { _ in }) async throws -> Farm {
        var options = Farm.Options()
        options.usersPassword = Self.password
        change(&options)
        return try await Farm(options)
    }

    private func client(_ farm: Farm, _ user: String) throws -> BlockingRedisClient {
        try farm.redis.client(as: user, Self.password)
    }

    /// Whether Redis denies a command to this user.
    private func isDenied(_ client: BlockingRedisClient, _ words: String...) throws -> Bool {
        do {
            _ = try client.run(words)
            return false
        } catch let error as RESPServerError {
            return error.code == "NOPERM"
        }
    }

    @Test func `the farm's user may run every command that a farm needs`() async throws {
        let farm = try await farm {
            $0.faults = ["latency 5ms"]
            $0.appLines = ["max_job_bytes: 100000"]
            // With this threshold the refusals of the gateway fire no alert.
            $0.lines.append("alerts: { error_share: 100 }")
        }
        let host = try await farm.ready()
        let tokens = Tokens.make(600)
        let jobs = Job.several("u", tokens, size: 100, fields: #""receipts":"all""#)
        try farm.push(jobs)
        try farm.push("nonsense")
        try farm.push(Job(id: "big", tokens: Tokens.make(2_000)).text)
        let bad = Tokens.make(3, start: "bad00000")
        try farm.push([Job(id: "bad", tokens: bad)])
        try await farm.gateway.requests(200)
        farm.kill(worker: try #require(host.workers.first).pid)
        try farm.gateway.control("answer 503 share=30%")
        try await farm.gateway.requests(300)
        try farm.gateway.control("answer off")
        let totals = try await farm.finished(jobs)
        #expect(totals.delivered == 600)
        #expect(try await farm.finished("bad").failed == 3)
        _ = try await farm.event("job.refused", number: 2)
        try farm.gateway.control("answer 400 reason=BadExpirationDate")
        for id in ["dead", "deader"] { try farm.push([Job(id: id, tokens: Tokens.make(4, seed: 9))]) }
        _ = try await (farm.finished("dead"), farm.finished("deader"))
        try farm.gateway.control("answer off")

        for arguments in [
            ["dead", "list"], ["dead", "export", "-"], ["replay", "--job", "dead"],
            ["dead", "drop", "--all"], ["refused", "list"], ["refused", "drop", "--all"],
            ["events", "--since", "1h"], ["events", "--operations"], ["find", "--job", "u-0"],
            ["find", "--token", Tokens.make(4, seed: 9)[0]],
            ["status"], ["jobs", "--json"], ["job", "u-0", "--app", "demo"], ["resume", "demo"],
            ["debug", "fsck"],
            ["debug", "fsck", "--repair", "--app", "all"],
            ["push", "--token", tokens[0], "--alert", "Hi", "--id", "pushed"],
            ["pause", "demo"], ["resume", "demo"], ["rate", "demo", "500/s"],
            ["rate", "demo", "default"],
            ["admission", "close", "demo"], ["admission", "auto", "demo"],
            ["pause", "--token", tokens[0]],
            ["pause", "--shard", "3"], ["paused"], ["resume", "--quarantined", "all"],
            ["backlog", "--eta", "--over", "0.2"], ["jobs", "--running", "--over", "0.2"],
        ] {
            let result = try await farm.run(
                arguments + ["--config", farm.folder.path + "/pushfarm.yaml"])
            #expect(result.status == 0, "\(arguments): \(result)")
        }
        #expect(try await farm.finished("pushed").delivered == 1)
        #expect(try await farm.finished("dead.r1").delivered == 4)
        let events = "{pushfarm:demo}:events"
        #expect(
            try client(farm, "farm").run("XREAD", "COUNT", "1", "STREAMS", events, "0").array?.count == 1)
        let later = #""deliver_at":\#(Int(Date().timeIntervalSince1970) + 3600)"#
        for id in ["back", "due"] {
            try farm.push([Job(id: id, tokens: Tokens.make(30, seed: 8), fields: later)])
            try await eventually("\(id) waits") { try await farm.jobRecord(id)?.delayed == 30 }
            #expect(try await farm.run("pause", "--job", id).status == 0)
            #expect(try await farm.run("resume", "--job", id).status == 0)
        }
        #expect(try await farm.run("cancel", "back").status == 0)
        #expect(try await farm.run("promote", "due").status == 0)
        #expect(try await farm.finished("due").delivered == 30)
        // A restarted Redis replays the writes of scripts as the default user, so this user must be allowed to write.
        let keys = ["u-0", "u-500", "bad", "pushed"].map { "{pushfarm:demo}:job:\($0)" }
        let before = try keys.map { try farm.redis.client().run("HGETALL", $0).fields }
        try await farm.redis.crash()
        #expect(try keys.map { try farm.redis.client().run("HGETALL", $0).fields } == before)
        try farm.push([Job(id: "after", tokens: Tokens.make(20, seed: 4))])
        #expect(try await farm.finished("after").delivered == 20)
        farm.coordinator.signal(SIGTERM)
        #expect(try await farm.coordinator.wait() == .exited(0))

        // Redis writes denied commands to its ACL log, which must be empty.
        let denied = try client(farm, "operator").run("ACL", "LOG").array ?? []
        #expect(denied.isEmpty, "\(denied.map(\.fields))")
        #expect(!farm.coordinator.error.contains("NOPERM"), "\(farm.coordinator.error)")
    }

    @Test func `the farm's user may not run other commands`() async throws {
        let farm = try await farm()
        let client = try client(farm, "farm")
        #expect(try isDenied(client, "SET", "elsewhere", "1"))
        #expect(try isDenied(client, "GET", "pushfarmer"))
        for words in [
            ["KEYS", "*"], ["FLUSHALL"], ["FLUSHDB"], ["CONFIG", "GET", "*"],
            ["CONFIG", "SET", "maxmemory", "1"],
            ["ACL", "LIST"], ["ACL", "SETUSER", "me"], ["SHUTDOWN"], ["DEBUG", "SLEEP", "0"],
            ["CLIENT", "LIST"],
            ["CLIENT", "KILL", "TYPE", "normal"], ["SCRIPT", "FLUSH"], ["FUNCTION", "FLUSH"],
            ["EVAL", "return 1", "0"],
            ["MONITOR"], ["REPLICAOF", "NO", "ONE"], ["SAVE"], ["PUBLISH", "elsewhere", "1"],
            ["MIGRATE", "h", "1", "k", "0", "1"], ["MODULE", "LIST"], ["SWAPDB", "0", "1"],
        ] {
            #expect(throws: RESPServerError.self, "\(words)") { try client.run(words) }
        }
    }

    @Test func `a producer's user may push, submit, and read its own events and job records`() async throws {
        let farm = try await farm()
        _ = try await farm.ready()
        let producer = try client(farm, "producer-demo")
        let tokens = Tokens.make(30)
        try producer.run("RPUSH", "pushfarm:demo", Job(id: "one", tokens: Array(tokens[..<10])).text)
        let job = Job(id: "two", tokens: Array(tokens[10...])).text
        func submit() throws -> [RESPValue] {
            try producer.run("FCALL", "pushfarm_submit", "1", "pushfarm:demo", job, "two").array ?? []
        }
        #expect(try submit().first?.text == "OK")
        for id in ["one", "two"] {
            try await eventually("\(id) is finished") {
                try producer.run("HGETALL", "{pushfarm:demo}:job:\(id)").fields["state"] == "finished"
            }
        }
        #expect(try submit().first?.text == "DUPLICATE")
        let devices = "{pushfarm:demo}:devices"
        try producer.run("RPUSH", devices, #"{"id":"d-1","token":"\#(tokens[0])"}"#)
        #expect(try isDenied(producer, "LRANGE", devices, "0", "-1"))
        let events = "{pushfarm:demo}:events"
        #expect(try producer.run("XRANGE", events, "-", "+").entries.count == 4)
        #expect(try producer.run("XREAD", "COUNT", "1", "STREAMS", events, "0").array?.count == 1)
        #expect(try farm.gateway.ledger().lost(of: tokens) == 0)
        func cancel(_ id: String) throws -> [String?] {
            try producer.run("FCALL", "pushfarm_cancel", "1", "pushfarm:demo", id).array?.map(\.text) ?? []
        }
        #expect(try cancel("one").last == "finished" && cancel("nobody").first == "REFUSED")
        let later = #""deliver_at":\#(Int(Date().timeIntervalSince1970) + 3600)"#
        try producer.run("RPUSH", "pushfarm:demo", Job(id: "late", tokens: tokens, fields: later).text)
        try await eventually("late is open") { try cancel("late").last == "open" }
        try await eventually("late is cancelled") {
            try producer.run("HGETALL", "{pushfarm:demo}:job:late").fields["cancelled"] == "30"
        }
    }

    @Test func `a producer's user may not run other commands`() async throws {
        let farm = try await farm()
        _ = try await farm.ready()
        let producer = try client(farm, "producer-demo")
        let own = "{pushfarm:demo}:"
        for words in [
            ["RPUSH", "pushfarm:other", "{}"], ["RPUSH", "elsewhere", "1"],
            ["FCALL", "pushfarm_submit", "1", "pushfarm:other", "{}"],
            ["LPUSH", "pushfarm:demo", "{}"], ["LRANGE", "pushfarm:demo", "0", "-1"],
            ["LPOP", "pushfarm:demo"],
            ["DEL", "pushfarm:demo"], ["RPUSH", own + "taken", "{}"], ["LINDEX", own + "taken", "0"],
            ["HGETALL", own + "owners"], ["HGET", own + "owners", "intake"],
            ["HSET", own + "owners", "intake", "x"],
            ["HSET", own + "admission", "retry", "1"], ["HSET", own + "load", "open", "1"],
            ["HSET", own + "job:one", "state", "finished"], ["XADD", own + "events", "*", "a", "b"],
            ["XRANGE", own + "results", "-", "+"], ["XRANGE", own + "refused", "-", "+"],
            ["XRANGE", "{pushfarm:other}:events", "-", "+"], ["HGETALL", own + "batches"],
            ["HGETALL", "{pushfarm}:hosts"], ["GET", "{pushfarm}:provider:X"],
            ["PUBLISH", own + "wakeups", "*"], ["SUBSCRIBE", own + "wakeups"],
            ["KEYS", "*"], ["SCAN", "0"], ["FLUSHALL"], ["CONFIG", "GET", "*"], ["INFO"],
            ["EVAL", "return 1", "0"],
            ["EVALSHA", String(repeating: "0", count: 40), "0"], ["SCRIPT", "LOAD", "return 1"],
            ["FUNCTION", "LIST"], ["FUNCTION", "DELETE", "pushfarm"], ["ACL", "WHOAMI"], ["MONITOR"],
            ["CLIENT", "LIST"], ["SHUTDOWN"], ["SORT", "pushfarm:demo"], ["COPY", "pushfarm:demo", "x"],
            ["MULTI"], ["OBJECT", "ENCODING", "pushfarm:demo"],
        ] {
            let code = #expect(throws: RESPServerError.self, "\(words)") { try producer.run(words) }?.code
            #expect(code == "NOPERM", "\(words)")
        }
    }

    @Test func `the dashboard's user may read the data of commands and may not write`() async throws {
        let farm = try await farm()
        _ = try await farm.ready()
        try farm.push([Job(id: "seen", tokens: Tokens.make(5))])
        _ = try await farm.finished("seen")
        let password = Self.password
        let address = "unix://dashboard:\(password)@\(farm.redis.socket)"
        let commands = [
            ["status"], ["status", "--json"], ["top", "--once"], ["jobs"],
            ["job", "seen", "--app", "demo"],
        ]
        for arguments in commands {
            let result = try await farm.run(
                arguments + ["--config", farm.folder.path + "/pushfarm.yaml", "--redis", address])
            #expect(result.status == 0, "\(arguments): \(result)")
        }
        // A command that needs scripts reports the missing permission.
        let denied = try await farm.run(
            ["debug", "fsck", "--config", farm.folder.path + "/pushfarm.yaml", "--redis", address])
        #expect(denied.status == 1 && denied.error.contains("NOPERM"), "\(denied)")
        // The farm has loaded its scripts. The scripts' names are not secret, but the dashboard's user must not run the scripts.
        let scripts = try farm.redis.client().run("INFO", "memory").text ?? ""
        #expect(
            scripts.contains("number_of_cached_scripts:")
                && !scripts.contains("number_of_cached_scripts:0\r"))
        let dashboard = try client(farm, "dashboard")
        let own = "{pushfarm:demo}:"
        for words in [
            // Payloads and device tokens are secret.
            ["HGETALL", own + "batches"], ["HGET", own + "batches", "x"], ["HLEN", own + "batches"],
            ["HGETALL", own + "invalid"], ["HGETALL", own + "unreadable"],
            ["XRANGE", own + "refused", "-", "+"], ["XLEN", own + "refused"],
            ["XRANGE", own + "results", "-", "+"], ["XREVRANGE", own + "results", "+", "-"],
            ["XREAD", "STREAMS", own + "events", "0"], ["XRANGE", own + "events", "-", "+"],
            ["LRANGE", own + "taken", "0", "-1"], ["HGETALL", own + "states"],
            ["RPUSH", "pushfarm:demo", "{}"], ["FCALL", "pushfarm_submit", "1", "pushfarm:demo", "{}"],
            ["LRANGE", "pushfarm:demo", "0", "-1"], ["LINDEX", "pushfarm:demo", "0"],
            ["LINDEX", own + "taken", "0"], ["HSET", own + "owners", "intake", "x"],
            ["DEL", own + "batches"], ["XADD", own + "events", "*", "a", "b"],
            ["HDEL", own + "admission", "full"],
            ["GET", "{pushfarm}:provider:SIMULATOR1"], ["PUBLISH", own + "wakeups", "*"],
            ["EVAL", "return 1", "0"],
            ["EVALSHA", String(repeating: "0", count: 40), "1", own], ["FLUSHALL"],
            ["EVAL_RO", "while true do end", "0"], ["EVAL_RO", "return string.rep('x', 2^30)", "0"],
            ["EVALSHA_RO", String(repeating: "0", count: 40), "0"], ["SCRIPT", "LOAD", "return 1"],
            ["SCRIPT", "EXISTS", "0"], ["SCRIPT", "KILL"], ["FCALL_RO", "pushfarm_submit", "0"],
            ["FUNCTION", "LOAD", "#!lua name=x\n"], ["FUNCTION", "RESTORE", "x"],
            ["CONFIG", "SET", "maxmemory", "1"], ["CONFIG", "GET", "*"],
            ["MULTI"], ["SUBSCRIBE", own + "wakeups"], ["PSUBSCRIBE", "*"],
            ["PUBLISH", "{pushfarm}:coordinators", "x"],
            ["MONITOR"], ["CLIENT", "LIST"],
            ["LRANGE", own + "ready:00", "0", "-1"],
            ["KEYS", "*"], ["SCAN", "0"], ["FUNCTION", "FLUSH"], ["SCRIPT", "FLUSH"],
        ] {
            let code = #expect(throws: RESPServerError.self, "\(words)") { try dashboard.run(words) }?
                .code
            #expect(code == "NOPERM", "\(words)")
        }
    }

    @Test func `the shipped users file admits no user`() async throws {
        let folder = try TestFolder()
        let text = try RedisUsers.text("x").replacingOccurrences(of: ">x", with: "resetpass")
        #expect(!text.contains(">") && !text.contains("nopass"))
        try folder.write(text, to: "users.acl")
        let redis = try Child(
            "redis", "redis-server",
            [
                "--port", "0", "--unixsocket", folder.path + "/r.sock", "--save", "", "--dir",
                folder.path,
                "--aclfile", folder.path + "/users.acl",
            ], in: folder.path)
        let client = try await eventually("Redis listens") {
            #expect(!redis.hasEnded, "\(redis.output)")
            return try? BlockingRedisClient(folder.path + "/r.sock")
        }
        for words in [["PING"], ["AUTH", "operator", ""], ["AUTH", "farm", "x"], ["INFO"]] {
            #expect(throws: RESPServerError.self) { try client.run(words) }
        }
    }

    @Test func `a farm that may not read Redis's memory use reports this and continues`() async throws {
        let farm = try await farm { _ in }
        _ = try await farm.ready()
        try client(farm, "operator").run("ACL", "SETUSER", "farm", "-info")
        try await eventually("it says so") { farm.coordinator.error.contains("needs +info") }
        farm.coordinator.signal(SIGTERM)
        #expect(try await farm.coordinator.wait() == .exited(0))
        try farm.restartCoordinator()
        let tokens = Tokens.make(50)
        try farm.push([Job(id: "blind", tokens: tokens)])
        let state = try await eventually("it is delivered") {
            let jobRecord = try client(farm, "operator").run("HGETALL", "{pushfarm:demo}:job:blind").fields
            return jobRecord["state"] == "finished" ? jobRecord : nil
        }
        #expect(state["delivered"] == "50")
        #expect(try farm.gateway.ledger().lost(of: tokens) == 0)
    }
}
