import PushModel
import RedisProtocol

@testable import RedisClient
@testable import StoreProtocol

/// Edge cases of resumes, of paused or full apps, of heartbeats, and of operators' commands. Each case notices a fault that
/// no other test noticed; `make mutants` found these faults.
extension ScriptCase {
    static let admissions = resumes + appPauses + hosts + operations

    private static let resumes = [
        ScriptCase("releases no job in the middle of the list", again: .other("[0, -1, 0, 0]")) { fixture in
            for step in 1...2 {
                try fixture.perform(fixture.quarantine(try fixture.held(step: step, [("j\(step)", 2)])))
            }
            try fixture.quarantine("q")
            return ResumePaused(start: 1)
        },
        ScriptCase("leaves the batches of other jobs quarantined", again: .other("[0, -1, 0, 0]")) {
            fixture in
            for step in 1...2 {
                let batch = try fixture.held(step: step, [("j\(step)", 2)])
                try fixture.perform(fixture.quarantine(batch))
                try fixture.set(batch.id, to: "|5|0|2,1,1,2,0,1,1,0|2|..")
            }
            return ResumePaused(.job("j2"))
        },
        ScriptCase(
            "leaves a batch quarantined in which only other jobs' pushes are open",
            again: .other("[0, -1, 0, 0]")
        ) {
            fixture in
            try fixture.split([("a", 1), ("q", 2)])
            try fixture.quarantine("q")
            let batch = try first(fixture)
            try fixture.set(batch, to: "|1|0||0|xpp")
            try fixture.redis.run("RENAME", app + "ready:01", app + "paused")
            try fixture.quarantine("a")
            return ResumePaused(.job("a"))
        },
    ]

    static func updateAdmission(
        _ memory: UpdateAdmission.Memory = .keep, backlog: Int = 10, inbox: Int = 10, bytes: Int = 1 << 20
    ) -> UpdateAdmission {
        UpdateAdmission(
            memory: memory, limitsIntake: false, retryAfter: .milliseconds(500),
            limits: AppLimits(backlog: backlog, inbox: inbox, inboxBytes: bytes, jobBytes: 40),
            jobRecordSeconds: 600)
    }

    static func open(_ fixture: StoreFixture, _ count: Int) throws {
        try fixture.redis.run("HSET", app + "load", "open", "\(count)")
    }

    private static let appPauses = [
        ScriptCase("pauses again for other credentials", again: .other("0")) { fixture in
            try fixture.perform(PauseApp(reason: "why", fingerprint: "abc"))
            return PauseApp(reason: "why", fingerprint: "def")
        },
        ScriptCase("stays closed for another reason", again: .other("[backlog, 0, 10, 0, 0]")) { fixture in
            try fixture.perform(updateAdmission(.full))
            try open(fixture, 10)
            return updateAdmission(.relieved)
        },
        ScriptCase(
            "opens again at nine tenths of its limits after a full memory", again: .other("[, 0, 9, 0, 0]")
        ) { fixture in
            try fixture.perform(updateAdmission(.full))
            try open(fixture, 9)
            return updateAdmission(.relieved)
        },
        ScriptCase("stays closed without news about the memory", again: .same) { fixture in
            try fixture.perform(updateAdmission(.full))
            return updateAdmission()
        },
        ScriptCase("stays closed at nine tenths of the open pushes", again: .same) { fixture in
            try open(fixture, 10)
            try fixture.perform(updateAdmission())
            try open(fixture, 9)
            return updateAdmission()
        },
        ScriptCase("opens again below nine tenths of its inbox", again: .other("[, 0, 0, 8, 0]")) { fixture in
            for job in 1...10 { try fixture.perform(PushJob(job: Array("\(job)".utf8))) }
            try fixture.perform(updateAdmission(backlog: 100))
            for _ in 1...2 { try fixture.redis.run("LPOP", "pushfarm:demo") }
            return updateAdmission(backlog: 100)
        },
        ScriptCase("closes for one large job", again: .other("[inbox, 0, 0, 1, 0]")) { fixture in
            try fixture.perform(PushJob(job: Array(repeating: 65, count: 5000)))
            return updateAdmission(bytes: 5000)
        },
        ScriptCase("counts waiting jobs against the limit", again: .other("[backlog, 0, 9, 1, 0]")) {
            fixture in
            try open(fixture, 9)
            try fixture.perform(PushJob(job: Array("job".utf8)))
            return updateAdmission()
        },
        ScriptCase("reports the rest of a flood after its end", again: .same) { fixture in
            try fixture.perform(updateAdmission())
            try fixture.flood(written: 100, pending: 7, duplicates: 3, age: 1000)
            return updateAdmission()
        },
        ScriptCase("reports no flood that continues", again: .same) { fixture in
            try fixture.perform(updateAdmission())
            try fixture.flood(written: 100, pending: 7)
            return updateAdmission()
        },
        ScriptCase("cancels a job for a producer, and drops a request for an unknown job", again: .same) {
            fixture in
            try fixture.perform(updateAdmission())
            try fixture.split([("a", 2), ("b", 1)])
            try fixture.redis.run("RPUSH", app + "cancel_requests", "nobody", "b")
            return updateAdmission()
        },
        ScriptCase("keeps requests to cancel while there is no room", again: .same) { fixture in
            try fixture.perform(updateAdmission())
            try fixture.split([("a", 2)])
            var entries = ["HSET", app + "cancels"]
            for number in 1...1000 { entries += ["j\(number)", "4000000000000 4000000000000 600 me"] }
            try fixture.run(entries)
            try fixture.redis.run("RPUSH", app + "cancel_requests", "a")
            return updateAdmission()
        },
        ScriptCase("forgets an app", again: .other("0")) { fixture in
            try fixture.perform(updateAdmission())
            return ForgetApp(silence: .zero)
        },
        ScriptCase("forgets no app that a coordinator served a moment ago", again: .same) { fixture in
            try fixture.perform(updateAdmission())
            return ForgetApp(silence: .seconds(3600))
        },
        ScriptCase("reads a negative count as zero", again: .same) { fixture in
            try open(fixture, -3)
            try fixture.perform(updateAdmission())
            return updateAdmission()
        },
    ]

    /// The end of a heartbeat in Unix milliseconds.
    static func end(_ fixture: StoreFixture, in seconds: Int64) throws -> Int64 {
        ((try fixture.redis.run("TIME").array?.first?.text.flatMap { Int64($0) } ?? 0) + seconds) * 1000
    }

    private static func heartbeat(_ fixture: StoreFixture, others: [String]) throws -> [String] {
        for (number, line) in others.enumerated() {
            try fixture.redis.run("HSET", "{pushfarm}:hosts", number == 0 ? "a" : "b\(number)", line)
        }
        return ["1", "{pushfarm}:hosts", "a", "5000", "n1", "n0", "3", "x", "{}"]
    }

    private static let hosts = [
        ScriptCase(.heartbeat, "replaces a heartbeat without expiry", again: .same) { fixture in
            try heartbeat(fixture, others: ["99999999999999 n2 4 x,y {}"])
        },
        ScriptCase(.heartbeat, "replaces the expired heartbeat of another process", again: .same) { fixture in
            try heartbeat(fixture, others: ["1000 n2 4 x,y {}"])
        },
        ScriptCase(.heartbeat, "replaces its predecessor's heartbeat", again: .same) { fixture in
            try heartbeat(fixture, others: ["\(try end(fixture, in: 30)) n0 4 x,y {}"])
        },
        ScriptCase(
            .heartbeat, "names live hosts, without expired ones and those without expiry", again: .same
        ) {
            fixture in
            try heartbeat(
                fixture,
                others: [
                    "?", "\(try end(fixture, in: 30)) n2 4 x {}", "\(try end(fixture, in: -600)) n3 4 x {}",
                    "2500000000000 n4 4 x {}",
                ])
        },
        ScriptCase("lists the shards in flight of one of two workers", again: .same) { fixture in
            let batch = try fixture.held([("a", 3)], credit: 1)
            try fixture.split(step: 2, [("b", 3)])
            try fixture.split(step: 3, [("c", 3)], shard: 2)
            _ = try fixture.checkout("w2")
            for number in 1...2 {
                try fixture.redis.run("LPUSH", app + "in_flight:01", "01.h.none.\(number)")
            }
            try fixture.set(batch.id, to: "w1|1|1||3|...")
            return ReadInFlightShards(worker: "w1", shards: Array(0..<StoreFixture.shards))
        },
    ]

    /// Returns the arguments for a command of an operator. If there are `fields`, Redis already contains the command.
    private static func operate(_ fixture: StoreFixture, _ fields: [String], _ words: [String]) throws
        -> [String]
    {
        var command = RESPCommand("HSET", "{pushfarm}:operation:i")
        for word in fields { command.append(word) }
        if !fields.isEmpty { try fixture.redis.run(command) }
        return ["2", "{pushfarm}:operations", "{pushfarm}:operation:i"] + words
    }

    private static let put = [
        "put", "30000", "{pushfarm}:coordinators", "id", "i", "by", "me", "host", "*", "verb", "scale",
    ]

    private static let operations = [
        ScriptCase("writes an event that belongs to no step once", again: .other("0")) { _ in
            var event = FarmEvent(.workersScaled)
            event.add("host", "h")
            return AddEvent(event, name: "n")
        },
        ScriptCase(.operate, "stores a command", again: .other("0")) { fixture in
            try operate(fixture, [], put)
        },
        ScriptCase(.operate, "stores a repeated command once", again: .same) { fixture in
            try operate(fixture, ["start_deadline", "5"], put)
        },
        ScriptCase(.operate, "passes a command to a host once", again: .other("0")) { fixture in
            try operate(fixture, ["start_deadline", "99999999999999", "host:b", "done "], ["claim", "a"])
        },
        ScriptCase(.operate, "passes no late command", again: .same) { fixture in
            try operate(fixture, ["start_deadline", "5"], ["claim", "a"])
        },
        ScriptCase(.operate, "passes no unknown command", again: .same) { fixture in
            try operate(fixture, [], ["claim", "a"])
        },
        ScriptCase(.operate, "stores a host's progress", again: .same) { fixture in
            try operate(
                fixture, ["start_deadline", "5", "host:a", "accepted "],
                ["answer", "a", "working", "half", "0", "{pushfarm}:replies", "i"])
        },
        ScriptCase(.operate, "stores a host's last reply and writes it to the audit log", again: .same) {
            fixture in
            try operate(
                fixture, ["start_deadline", "5", "host:a", "working half"],
                ["answer", "a", "done", "all of it", "1", "{pushfarm}:replies", "i"])
        },
    ]
}
