import FarmHarness
import Foundation
import Testing

/// Job commands under load, checked with the gateway's ledger.
@Suite(.startsProcesses) struct JobCommandTests {
    private func json(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
    }

    /// Waits until no more pushes reach the gateway. Returns their number.
    private func still(_ gateway: Gateway) async throws -> Int {
        var last = (count: -1, since: ContinuousClock.now)
        return try await eventually("no more pushes reach the gateway") {
            let count = try gateway.requestCount()
            if count != last.count { last = (count, .now) }
            return .now - last.since > .milliseconds(700) ? count : nil
        }
    }

    /// The number of open pushes in the farm's own count.
    private func open(_ redis: BlockingRedisClient, app: String = "demo") throws -> Int {
        try redis.run("HGET", "{pushfarm:\(app)}:load", "open").text.flatMap { Int($0) } ?? 0
    }

    // MARK: Apps

    @Test func `a paused app accepts jobs but sends no push, and resumes where it stopped`()
        async throws
    {
        let farm = try await Farm(hosts: Farm.twoHosts, Farm.Options(workers: 1, faults: ["latency 10ms"]))
        try await farm.startAll()
        let load = try Load(farm, every: .milliseconds(150))
        try await load.more(3)
        let paused = try await farm.run(["pause", "demo", "--reason", "a typo", "--json"], on: "alpha")
        #expect(paused.status == 0, "\(paused)")
        let report = try json(paused.output)
        #expect((report["hosts"] as? [[String: Any]])?.count == 2)
        let count = try await still(farm.gateway)
        // The intake still accepts jobs of the paused app.
        let redis = try farm.redis.client()
        let before = try open(redis)
        try await eventually("jobs are taken in") { try open(redis) > before + 800 }
        #expect(try farm.gateway.requestCount() == count)
        #expect(
            try redis.run("HGET", "{pushfarm:demo}:admission", "paused").text?.hasSuffix(": a typo") == true)
        let again = try await farm.run(["pause", "demo"], on: "beta")
        #expect(again.status == 0 && again.output.contains("already"), "\(again)")
        let status = try await farm.run(["status", "--json"], on: "beta")
        #expect(status.status == 1 && status.output.contains("a typo"))

        // New credentials and a restarted coordinator do not end the pause.
        farm.coordinator("beta").signal(SIGHUP)
        farm.coordinator("alpha").signal(SIGTERM)
        #expect(try await farm.coordinator("alpha").wait() == .exited(0))
        try farm.start("alpha")
        try await farm.shared(by: ["alpha", "beta"])
        #expect(try farm.gateway.requestCount() == count)

        let resumed = try await farm.run(["resume", "demo"], on: "beta")
        #expect(resumed.status == 0 && resumed.output.contains("is resumed"), "\(resumed)")
        try await load.more(2)
        try await load.expectExactlyOnce()
    }

    @Test func `new credentials end the farm's own pause, but not an operator's`() async throws {
        let farm = try await Farm(
            Farm.Options(apps: { started, folder in
                try? folder.copy(started.keyFile, to: "key.p8")
                return [App(started, keyFile: folder.path + "/key.p8")]
            }))
        _ = try await farm.ready()
        #expect(try await farm.run("pause", "all").status == 0)
        let tokens = Tokens.make(200)
        try farm.push([Job(id: "kept", tokens: tokens)])
        _ = try await farm.event("job.accepted")
        try farm.folder.write(Self.otherKey, to: "key.p8")
        // The coordinator writes an event when it has read the new key.
        try await eventually("the new key is seen") {
            farm.coordinator.error.contains("credential files have changed")
        }
        try farm.folder.copy(farm.gateway.started.keyFile, to: "key.p8")
        try await eventually("the old key is seen") {
            farm.coordinator.error.components(separatedBy: "credential files have changed").count > 2
        }
        let look = try await farm.run("paused", "--json")
        #expect(look.output.contains(#""how":"pause""#), "\(look)")
        #expect(try farm.gateway.requestCount() == 0)
        #expect(try farm.events("app.resumed").isEmpty)
        #expect(try await farm.run("resume", "all").status == 0)
        #expect(try await farm.finished("kept").delivered == 200)
        #expect(try farm.gateway.ledger().doubles == 0)
    }

    /// A key that the gateway does not know.
    private static let otherKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgevZzL1gdAFr88hb2
        OF/2NxApJCzGCEDdfSp6VQO30hyhRANCAAQRWz+jn65BtOMvdyHKcvjBeBSDZH2r
        1RTwjmYSi9R/zpBnuQ4EiMnCqfMPWiZqB4QdbAd0E7oH50VpuZ1P087G
        -----END PRIVATE KEY-----

        """

    @Test func `an operator's rate limits the farm, also after a restart, until it is removed`()
        async throws
    {
        let farm = try await Farm(Farm.Options(workers: 2, appLines: ["budget: { max_rate: 100000 }"]))
        _ = try await farm.ready()
        let set = try await farm.run("rate", "demo", "250/s", "--json")
        #expect(set.status == 0, "\(set)")
        #expect(try json(set.output)["rate"] as? String == "250")
        let tokens = Tokens.make(6_000)
        let jobs = Job.several("r", tokens, size: 1000)
        try farm.push(jobs)
        try await farm.gateway.requests(400)
        farm.coordinator.signal(SIGTERM)
        #expect(try await farm.coordinator.wait() == .exited(0))
        try farm.restartCoordinator()
        let before = try farm.gateway.requestCount()
        try await farm.gateway.requests(before + 400)
        let lines = try farm.gateway.ledger().lines
        // A burst may have as many pushes as the rate allows in a twentieth of a second. The workers before the restart and the
        // workers after it may each send such a burst.
        Rate.expect(lines.map(\.time), atMost: 250, burst: 2 * 13)
        let shown = try await farm.run("rate", "demo")
        #expect(shown.output.contains("250/s"), "\(shown)")
        #expect(try await farm.run("rate", "demo", "off").status == 0)
        try await farm.expectExactlyOnce(jobs)
        #expect(try await farm.run("rate", "demo", "default").output.contains("budget.max_rate"))
        #expect(try await farm.run("rate", "demo", "10").status == 2)
    }

    @Test func `closed admission tells producers to wait, and jobs pushed anyway are delivered`()
        async throws
    {
        let farm = try await Farm()
        _ = try await farm.ready()
        let client = try farm.redis.client()
        func submit(_ id: String) throws -> [String] {
            let job = Job(id: id, tokens: Tokens.make(3)).text
            return try client.run("FCALL", "pushfarm_submit", "1", "pushfarm:demo", job, id).array?.map {
                $0.text ?? "\($0.integer ?? -1)"
            } ?? []
        }
        #expect(try await farm.run("admission", "close", "demo").status == 0)
        let busy = try submit("a")
        #expect(busy.first == "BUSY" && busy.last == "operator", "\(busy)")
        try farm.push([Job(id: "plain", tokens: Tokens.make(5))])
        #expect(try await farm.finished("plain").delivered == 5)
        #expect(try await farm.event("admission.closed")["reason"] == "operator")
        // The coordinator must not open admission that an operator has closed.
        try await eventually("the coordinator has decided again") {
            try client.run("HGET", "{pushfarm:demo}:admission", "retry").text != nil
        }
        #expect(try submit("b").first == "BUSY")
        #expect(try await farm.run("admission", "close", "demo").output.contains("already"))
        #expect(try await farm.run("admission", "auto", "demo").status == 0)
        #expect(try submit("c").first == "OK")
        #expect(try await farm.run("admission", "open", "demo").status == 0)
        try client.run("HSET", "{pushfarm:demo}:load", "open", "1000000000")
        #expect(try submit("d").first == "BUSY", "the script itself keeps to max_backlog")
    }

    // MARK: Jobs

    /// A farm that needs some seconds for twenty thousand pushes.
    private func slowFarm(_ lines: [String] = []) async throws -> Farm {
        let farm = try await Farm(
            Farm.Options(
                workers: 2, faults: ["latency 80ms"], simulatorOptions: ["--streams", "100"],
                appLines: lines))
        _ = try await farm.ready()
        return farm
    }

    @Test func `a paused job stops at once, others continue, and it resumes in order`() async throws {
        // The settings allow few pushes in flight, while the workers have many batches.
        let farm = try await Farm(
            Farm.Options(
                workers: 2, faults: ["latency 100ms"], simulatorOptions: ["--streams", "10"],
                appLines: ["max_conns: 2"]))
        _ = try await farm.ready()
        let (mine, others) = (Tokens.make(4_000), Tokens.make(500, seed: 2))
        try farm.push([Job(id: "big", tokens: mine)])
        try await farm.gateway.requests(100)
        let paused = try await farm.run("pause", "big", "--json")
        #expect(paused.status == 0, "\(paused)")
        let ours = Set(mine)
        let early = try farm.gateway.ledger().lines.count { ours.contains($0.token ?? "") }
        let small = Job.several("small", others, size: 50)
        try farm.push(small)
        _ = try await farm.finished(small)
        let first = try farm.gateway.ledger().lines.count { ours.contains($0.token ?? "") }
        // At the pause, at most ten pushes were in flight on each connection. Each of the two workers may have two connections,
        // and an extra connection for high pushes.
        #expect(first - early <= 2 * 3 * 10, "\(first - early) were sent after it was paused")
        let jobRecord = try #require(try await farm.jobRecord("big"))
        #expect(
            jobRecord.addsUp && jobRecord.state == "open" && jobRecord.inFlight == 0
                && jobRecord.delivered == first)
        let list = try await farm.run("jobs", "--running", "--over", "0.5")
        #expect(list.output.contains("paused"), "\(list)")
        #expect(try farm.gateway.ledger().lines.count { ours.contains($0.token ?? "") } == first)
        let all = try await farm.run("resume", "demo", "--dry-run")
        #expect(all.output.contains("resume them by name: big"), "\(all)")
        let held = try await farm.run("paused")
        #expect(held.output.contains("pause") && held.output.contains("big"), "\(held)")
        try farm.gateway.control("latency off")
        let resumed = try await farm.run("resume", "big")
        #expect(resumed.status == 0 && resumed.output.contains("is resumed"), "\(resumed)")
        try await farm.expectExactlyOnce([Job(id: "big", tokens: mine)] + small)
        #expect(try await farm.run("resume", "big").output.contains("was not paused"))
    }

    /// The state of a job's pushes when the job is cancelled.
    enum Place: String, CaseIterable, CustomTestStringConvertible {
        case sending, paused, delayed, tried, split, parked, inbox
        var testDescription: String { rawValue }
    }

    @Test(arguments: Place.allCases)
    func `a cancelled job sends no more pushes, and its counts are exact`(_ place: Place)
        async throws
    {
        let farm = try await slowFarm(place == .inbox ? ["max_backlog: 1000"] : [])
        // For these cases the job needs more pushes than the farm can send before the command arrives.
        let count = [.split, .sending, .paused, .parked].contains(place) ? 60_000 : 4_000
        let tokens = Tokens.make(count)
        let others = Job.several("other", Tokens.make(3_000, seed: 9), size: 500)
        var job = Job(id: "back", tokens: tokens)
        switch place {
        case .delayed:
            job.fields = #""deliver_at":\#(Int(Date().timeIntervalSince1970) + 3600)"#
        // The gateway requests a long delay, so the retries are still delayed when the command arrives.
        case .tried: try farm.gateway.control("answer 503 retry-after=20")
        case .inbox:
            // The job "before" fills the backlog, so later jobs stay in the inbox.
            try farm.gateway.control("latency 500ms")
            try farm.push([Job(id: "before", tokens: Tokens.make(1_500, seed: 4))])
            _ = try await farm.event("job.accepted")
        default: break
        }
        try farm.push([job])
        let redis = try farm.redis.client()
        switch place {
        case .sending: try await farm.gateway.requests(2_000)
        case .paused:
            try await farm.gateway.requests(200)
            #expect(try await farm.run("pause", "demo").status == 0)
        case .parked:
            try await farm.gateway.requests(200)
            #expect(try await farm.run("pause", "back").status == 0)
        case .delayed: _ = try await farm.event("job.accepted")
        case .tried:
            try await eventually("retries wait") {
                try redis.run("ZCARD", "{pushfarm:demo}:delayed").integer ?? 0 > 3
            }
        case .split, .inbox: break
        }
        // In the state `tried` the gateway responds only 503, which would delay other jobs too, so they are pushed later.
        let hasOthers = place != .paused && place != .inbox
        if hasOthers, place != .tried { try farm.push(others) }
        let result = try await farm.run(
            "cancel", "back", "--app", "demo", "--json", place == .inbox ? "--no-wait" : "--wait")
        #expect(result.status == 0, "\(result)")
        if place == .inbox { try farm.gateway.control("latency off") }
        if place == .tried {
            try farm.gateway.control("answer off")
            try farm.push(others)
        }
        let jobRecord = try await farm.finished("back")
        #expect(
            jobRecord.delivered + jobRecord.failed + jobRecord.cancelled == count && jobRecord.cancelled > 0)
        #expect(jobRecord.failed == 0 && jobRecord.maybeDuplicated == 0)
        if place == .paused { #expect(try await farm.run("resume", "demo").status == 0) }
        if hasOthers {
            #expect(try await farm.finished(others).delivered == 3_000)
        }
        let again = try await farm.run("cancel", "back", "--app", "demo", "--json")
        #expect(again.status == 0 && again.output.contains(#""changed":false"#), "\(again)")
        let ledger = try farm.gateway.ledger()
        #expect(ledger.doubles == 0)
        let deliveries = ledger.deliveries
        let reached = tokens.count { deliveries[$0] != nil }
        #expect(reached == jobRecord.delivered, "\(reached) came to the gateway, \(jobRecord)")
        let event = try #require(try farm.events("job.finished").first { $0["job"] == "back" })
        #expect(event["cancelled"] == "\(jobRecord.cancelled)")
        try await eventually("nothing is open") { try open(redis) == 0 }
        #expect(try redis.run("HEXISTS", "{pushfarm:demo}:admission", "cancels").integer == 0)
        #expect(try await farm.run("debug", "fsck").status == 0)
    }

    @Test func `cancel refuses an unknown job, and can cancel a job at a later time`() async throws {
        let farm = try await slowFarm()
        #expect(try await farm.run("cancel", "nobody").status == 1)
        let tokens = Tokens.make(20_000)
        try farm.gateway.control("latency 2s")
        try farm.push([Job(id: "late", tokens: tokens)])
        _ = try await farm.event("job.accepted")
        let past = try await farm.run("cancel", "late", "--at", "3600")
        #expect(past.status == 2 && past.error.contains("long past"), "\(past)")
        let moment = Int(Date().timeIntervalSince1970) + 1
        let result = try await farm.run("cancel", "late", "--at", "\(moment)", "--json")
        #expect(result.status == 0, "\(result)")
        let jobRecord = try await farm.finished("late")
        #expect(jobRecord.cancelled > 0 && jobRecord.delivered > 0)
        let ledger = try farm.gateway.ledger()
        let deliveries = ledger.deliveries
        #expect(tokens.count { deliveries[$0] != nil } == jobRecord.delivered && ledger.doubles == 0)
    }

    @Test func `promote makes a job's delayed pushes due, and no others`() async throws {
        let farm = try await Farm()
        _ = try await farm.ready()
        let later = #""deliver_at":\#(Int(Date().timeIntervalSince1970) + 3600)"#
        let (first, second) = (Tokens.make(300), Tokens.make(200, seed: 3))
        // The jobs are due at the same time, so that they share batches.
        try farm.push([
            Job(id: "first", tokens: first, fields: later),
            Job(id: "second", tokens: second, fields: later),
        ])
        _ = try await farm.event("job.accepted", number: 2)
        let due = try await farm.run("promote", "first", "--json")
        #expect(due.status == 0 && due.output.contains(#""pushes":300"#), "\(due)")
        #expect(try await farm.finished("first").delivered == 300)
        let jobRecord = try #require(try await farm.jobRecord("second"))
        #expect(jobRecord.delayed == 200 && jobRecord.addsUp)
        #expect(try farm.gateway.ledger().lines.count == 300)
        #expect(try await farm.run("promote", "first").output.contains("no delayed pushes"))
        #expect(try await farm.run("cancel", "second").status == 0)
        #expect(try await farm.finished("second").cancelled == 200)
        #expect(try await farm.run("debug", "fsck").status == 0)
    }

    // MARK: Paused tokens and shards

    @Test func `paused tokens and shards wait, and all others continue`() async throws {
        let farm = try await slowFarm()
        let tokens = Tokens.make(2_000)
        let put = try await farm.run("pause", "--token", tokens[7], "--reason", "loops", "--json")
        #expect(put.status == 0, "\(put)")
        let aside = try await farm.run("pause", "--shard", "5")
        #expect(aside.status == 0, "\(aside)")
        // `find` shows the pause although there is no push to the token yet.
        let held = try await farm.run("find", "--token", tokens[7], "--app", "demo")
        #expect(
            held.status == 0 && held.output.contains("subject the token, how pause, by ")
                && held.output.contains("reason loops"), "\(held)")
        try farm.push([Job(id: "some", tokens: tokens)])
        let redis = try farm.redis.client()
        try await eventually("only the paused tokens are left") {
            let ready = (try redis.run("LLEN", "{pushfarm:demo}:ready:05").integer ?? 0)
            let parked = try redis.run("LLEN", "{pushfarm:demo}:paused").integer ?? 0
            let states = try redis.run("HLEN", "{pushfarm:demo}:states").integer ?? 0
            let results = try redis.run("XLEN", "{pushfarm:demo}:results").integer ?? 0
            return parked == 1 && ready > 0 && states == ready + parked && results == 0
        }
        let ledger = try farm.gateway.ledger()
        #expect(ledger.deliveries[tokens[7]] == nil && ledger.lost(of: tokens) > 1)
        let other = try #require(tokens.first { $0 != tokens[7] && ledger.deliveries[$0] == nil })
        let shut = try await farm.run("find", "--token", other, "--app", "demo", "--json")
        #expect(
            shut.output.contains(#""place":"ready","job":"some""#)
                && shut.output.contains(#""subject":"shard 5","how":"pause""#), "\(shut)")
        let list = try await farm.run("paused")
        #expect(list.output.contains(tokens[7]) && list.output.contains("loops"), "\(list)")
        #expect(list.output.contains("shard  5 "), "\(list)")
        let found = try await farm.run("find", "--token", tokens[7], "--app", "demo", "--json")
        #expect(
            found.output.contains(#""paused_token":"pause""#)
                && found.output.contains(#""job":"some""#)
                && !found.output.contains(#""job":"quarantined""#), "\(found)")

        #expect(
            try await farm.run("resume", "--shard", "5", "--app", "demo").output.contains(
                "shard 5 of demo is resumed"))
        try await farm.gateway.requests(1_999)
        #expect(try farm.gateway.ledger().lost(of: tokens) == 1)
        let free = try await farm.run("resume", "--token", tokens[7], "--app", "demo")
        #expect(
            free.status == 0 && free.output.contains("token \(tokens[7]) of demo is resumed"), "\(free)")
        let again = try await farm.run("resume", "--token", tokens[7], "--app", "demo", "--json")
        #expect(
            again.output.contains(#""changed":false"#) && again.output.contains(#""batches":0"#),
            "\(again)")
        try await farm.expectExactlyOnce([Job(id: "some", tokens: tokens)])
        #expect(try await farm.run("pause", "--token", tokens[7]).status == 0)
        #expect(try await farm.run("resume").status == 2)
        #expect(
            try await farm.run("resume", "--quarantined", "--job", "some").output
                == "job some of demo was not quarantined\n")
        for (verb, words) in [
            (
                "resume",
                #"there is no app "nosuch", no living host nosuch, and there is no job nosuch in demo"#
            ), ("pause", #"there is no app "nosuch", and there is no job nosuch in demo"#),
        ] {
            let unknown = try await farm.run(verb, "nosuch")
            #expect(unknown.status == 2 && unknown.error == "pushfarm: \(words)\n", "\(unknown)")
        }
        let rest = try await farm.run("resume", "--quarantined", "all")
        #expect(rest.status == 0 && rest.output.hasPrefix("demo resumed: 1 token\n"), "\(rest)")
        #expect(try await farm.run("paused").output == "nothing is paused\n")
        #expect(try redis.run("HEXISTS", "{pushfarm:demo}:admission", "pauses").integer == 0)
    }

    // MARK: Views

    @Test func `backlog and running jobs show the remaining pushes and the rate`() async throws {
        let farm = try await slowFarm()
        let later = #""deliver_at":\#(Int(Date().timeIntervalSince1970) + 3600)"#
        try farm.push([
            Job(id: "bulk", tokens: Tokens.make(30_000), fields: #""lane":"bulk""#),
            Job(id: "later", tokens: Tokens.make(50, seed: 5), fields: later),
        ])
        try await farm.gateway.requests(1_000)
        // The gateway is slow, so that the job does not finish before the last command.
        try farm.gateway.control("latency 400ms")
        let result = try await farm.run("backlog", "--eta", "--over", "1", "--json")
        #expect(result.status == 0, "\(result)")
        let app = try #require((try json(result.output)["apps"] as? [[String: Any]])?.first)
        let lanes = try #require(app["lanes"] as? [[String: Any]])
        let bulk = try #require(lanes.first { $0["lane"] as? String == "bulk" })
        let high = try #require(lanes.first { $0["lane"] as? String == "high" })
        #expect(bulk["queued"] as? Int ?? 0 > 0 && bulk["oldest_ms"] as? Int ?? -1 >= 0)
        #expect(high["delayed"] as? Int == 50 && high["queued"] as? Int == 0)
        #expect(app["rate"] as? Double ?? 0 > 0 && app["remaining_ms"] as? Int ?? 0 > 0)
        let running = try await farm.run("jobs", "--running", "--json")
        let jobs = try #require(try json(running.output)["jobs"] as? [[String: Any]])
        #expect(Set(jobs.compactMap { $0["id"] as? String }) == ["bulk", "later"])
        let job = try #require(jobs.first { $0["id"] as? String == "bulk" })
        #expect(job["rate"] as? Double ?? 0 > 0 && job["remaining_ms"] as? Int ?? 0 > 0)
        let next = try json(try await farm.run("jobs", "--running", "--limit", "1", "--json").output)
        #expect((next["jobs"] as? [[String: Any]])?.compactMap { $0["id"] as? String } == ["bulk"])
        #expect(next["others"] as? Int == 1)
        let stuck = try await farm.run("jobs", "--stuck")
        #expect(stuck.status == 0 && stuck.output == "no job is stuck\n", "\(stuck)")
        // The test sets the time of the last settlement far into the past, as for a job without progress.
        let redis = try farm.redis.client()
        #expect(try await farm.run("pause", "demo").status == 0)
        let sent = try await still(farm.gateway)
        try await eventually("all outcomes are settled") {
            try redis.run("HGET", "{pushfarm:demo}:job:bulk", "delivered").text == "\(sent)"
        }
        try redis.run("HSET", "{pushfarm:demo}:job:bulk", "last_outcome_at", "5", "created_at", "5")
        #expect(try await farm.run("jobs", "--stuck").status == 0, "a paused app is not stuck")
        try farm.gateway.control("latency 60s")
        #expect(try await farm.run("resume", "demo").status == 0)
        let now = try await farm.run("jobs", "--stuck", "--json")
        #expect(now.status == 1 && now.output.contains(#""id":"bulk""#), "\(now)")
        #expect(!now.output.contains(#""id":"later""#), "what waits for its time is not stuck")
    }
}
