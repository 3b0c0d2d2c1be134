import PushModel
import RedisProtocol

@testable import RedisClient
@testable import StoreProtocol

/// What lets go on, keeps waiting or tells who is there, at its edges: each was found by `make mutants`.
extension ScriptCase {
    static let doors = releases + gates + hosts + operations

    private static let releases = [
        ScriptCase("lets no job go on in the middle of the list", again: .other("[0, -1, 0, 0]")) { desk in
            for step in 1...2 { try desk.perform(desk.park(try desk.held(step: step, [("j\(step)", 2)]))) }
            try desk.quarantine("q")
            return Release(start: 1)
        },
        ScriptCase("leaves parked what other jobs have", again: .other("[0, -1, 0, 0]")) { desk in
            for step in 1...2 {
                let batch = try desk.held(step: step, [("j\(step)", 2)])
                try desk.perform(desk.park(batch))
                try desk.set(batch.id, to: "|5|0|2,1,1,2,0,1,1,0|2|..")
            }
            return Release(.job("j2"))
        },
        ScriptCase("leaves parked what has only others' pushes left", again: .other("[0, -1, 0, 0]")) {
            desk in
            try desk.split([("a", 1), ("q", 2)])
            try desk.quarantine("q")
            let batch = try first(desk)
            try desk.set(batch, to: "|1|0||0|xpp")
            try desk.redis.run("RENAME", app + "ready:01", app + "paused")
            try desk.quarantine("a")
            return Release(.job("a"))
        },
    ]

    static func press(
        _ memory: Press.Memory = .keep, backlog: Int = 10, inbox: Int = 10, bytes: Int = 1 << 20
    ) -> Press {
        Press(
            memory: memory, isHeld: false, retryAfter: .milliseconds(500),
            limits: AppLimits(backlog: backlog, inbox: inbox, inboxBytes: bytes, jobBytes: 40))
    }

    static func open(_ desk: Desk, _ count: Int) throws {
        try desk.redis.run("HSET", app + "load", "open", "\(count)")
    }

    private static let gates = [
        ScriptCase("pauses once more for other credentials", again: .other("0")) { desk in
            try desk.perform(Pause(reason: "why", fingerprint: "abc"))
            return Pause(reason: "why", fingerprint: "def")
        },
        ScriptCase("is full for another reason", again: .other("[backlog, 0, 10, 0, 0]")) { desk in
            try desk.perform(press(.full))
            try open(desk, 10)
            return press(.relieved)
        },
        ScriptCase("is no longer full of memory at nine tenths", again: .other("[, 0, 9, 0, 0]")) { desk in
            try desk.perform(press(.full))
            try open(desk, 9)
            return press(.relieved)
        },
        ScriptCase("is full of memory while nobody says otherwise", again: .same) { desk in
            try desk.perform(press(.full))
            return press()
        },
        ScriptCase("is still full at nine tenths of its open pushes", again: .same) { desk in
            try open(desk, 10)
            try desk.perform(press())
            try open(desk, 9)
            return press()
        },
        ScriptCase("is relieved below nine tenths of its inbox", again: .other("[, 0, 0, 8, 0]")) { desk in
            for job in 1...10 { try desk.perform(Submit(job: Array("\(job)".utf8))) }
            try desk.perform(press(backlog: 100))
            for _ in 1...2 { try desk.redis.run("LPOP", "pushfarm:demo") }
            return press(backlog: 100)
        },
        ScriptCase("is full by one large job", again: .other("[inbox, 0, 0, 1, 0]")) { desk in
            try desk.perform(Submit(job: Array(repeating: 65, count: 5000)))
            return press(bytes: 5000)
        },
        ScriptCase("is full by the jobs that wait as well", again: .other("[backlog, 0, 9, 1, 0]")) { desk in
            try open(desk, 9)
            try desk.perform(Submit(job: Array("job".utf8)))
            return press()
        },
        ScriptCase("tells of the rest of a flood when it is over", again: .same) { desk in
            try desk.perform(press())
            try desk.flood(told: 100, untold: 7, duplicates: 3, age: 1000)
            return press()
        },
        ScriptCase("tells of no flood that goes on", again: .same) { desk in
            try desk.perform(press())
            try desk.flood(told: 100, untold: 7)
            return press()
        },
        ScriptCase("forgets an app", again: .other("0")) { desk in
            try desk.perform(press())
            return ForgetApp(silence: .zero)
        },
        ScriptCase("forgets no app that a coordinator had a moment ago", again: .same) { desk in
            try desk.perform(press())
            return ForgetApp(silence: .seconds(3600))
        },
        ScriptCase("takes a count below nothing for nothing", again: .same) { desk in
            try open(desk, -3)
            try desk.perform(press())
            return press()
        },
    ]

    /// When a line ends, in Unix milliseconds.
    static func end(_ desk: Desk, in seconds: Int64) throws -> Int64 {
        ((try desk.redis.run("TIME").array?.first?.text.flatMap { Int64($0) } ?? 0) + seconds) * 1000
    }

    private static func beat(_ desk: Desk, others: [String]) throws -> [String] {
        for (number, line) in others.enumerated() {
            try desk.redis.run("HSET", "{pushfarm}:hosts", number == 0 ? "a" : "b\(number)", line)
        }
        return ["1", "{pushfarm}:hosts", "a", "5000", "n1", "n0", "3", "x", "{}"]
    }

    private static let hosts = [
        ScriptCase(.beat, "takes a line that would live for ever", again: .same) { desk in
            try beat(desk, others: ["99999999999999 n2 4 x,y {}"])
        },
        ScriptCase(.beat, "takes the line of another that ended", again: .same) { desk in
            try beat(desk, others: ["1000 n2 4 x,y {}"])
        },
        ScriptCase(.beat, "takes its predecessor's line", again: .same) { desk in
            try beat(desk, others: ["\(try end(desk, in: 30)) n0 4 x,y {}"])
        },
        ScriptCase(
            .beat, "names who lives, not who ended some minutes ago or would live for ever", again: .same
        ) {
            desk in
            try beat(
                desk,
                others: [
                    "?", "\(try end(desk, in: 30)) n2 4 x {}", "\(try end(desk, in: -600)) n3 4 x {}",
                    "2500000000000 n4 4 x {}",
                ])
        },
        ScriptCase("tells what one of two workers had in the air", again: .same) { desk in
            let batch = try desk.held([("a", 3)], credit: 1)
            try desk.split(step: 2, [("b", 3)])
            try desk.split(step: 3, [("c", 3)], shard: 2)
            _ = try desk.checkout("w2")
            for number in 1...2 { try desk.redis.run("LPUSH", app + "in_flight:01", "01.h.none.\(number)") }
            try desk.set(batch.id, to: "w1|1|1||3|...")
            return ReadAccused(worker: "w1", shards: Array(0..<Desk.shards))
        },
    ]

    /// A command of operators, in a farm that knows it already if `fields` are there.
    private static func operate(_ desk: Desk, _ fields: [String], _ words: [String]) throws -> [String] {
        var command = RESPCommand("HSET", "{pushfarm}:operation:i")
        for word in fields { command.append(word) }
        if !fields.isEmpty { try desk.redis.run(command) }
        return ["2", "{pushfarm}:operations", "{pushfarm}:operation:i"] + words
    }

    private static let put = [
        "put", "30000", "{pushfarm}:commands", "id", "i", "by", "me", "host", "*", "verb", "scale",
    ]

    private static let operations = [
        ScriptCase("tells of what belongs to no step, once", again: .other("0")) { _ in
            var event = FarmEvent(.workers)
            event.add("host", "h")
            return TellEvent(event, name: "n")
        },
        ScriptCase(.operate, "puts a command", again: .other("0")) { desk in
            try operate(desk, [], put)
        },
        ScriptCase(.operate, "puts a command once", again: .same) { desk in
            try operate(desk, ["ends", "5"], put)
        },
        ScriptCase(.operate, "gives a command to a host once", again: .other("0")) { desk in
            try operate(desk, ["ends", "99999999999999", "host:b", "done "], ["claim", "a"])
        },
        ScriptCase(.operate, "gives no command that is too late", again: .same) { desk in
            try operate(desk, ["ends", "5"], ["claim", "a"])
        },
        ScriptCase(.operate, "gives no command that nobody knows", again: .same) { desk in
            try operate(desk, [], ["claim", "a"])
        },
        ScriptCase(.operate, "keeps how far a host is", again: .same) { desk in
            try operate(
                desk, ["ends", "5", "host:a", "accepted "],
                ["answer", "a", "working", "half", "0", "{pushfarm}:answers", "i"])
        },
        ScriptCase(.operate, "keeps a host's last answer, and notes it", again: .same) { desk in
            try operate(
                desk, ["ends", "5", "host:a", "working half"],
                ["answer", "a", "done", "all of it", "1", "{pushfarm}:answers", "i"])
        },
    ]
}
