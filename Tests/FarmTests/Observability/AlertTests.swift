import FarmHarness
import Foundation
import OpenSSL
import Simulator
import Testing

@Suite(.startsProcesses(limit: .seconds(240))) struct AlertTests {
    /// An alert command that writes a line for each alert.
    private static let command =
        #"command: "echo $PUSHFARM_ALERT_TYPE $PUSHFARM_ALERT_ALERT $PUSHFARM_ALERT_APP$PUSHFARM_ALERT_HOST >> FOLDER/alerts.txt""#

    private static func lines(_ alerts: String...) -> [String] {
        ["alerts: { \((alerts + [command]).joined(separator: ", ")) }", MetricsTests.listen]
    }

    private static func sentAlerts(_ folder: String) -> [String] {
        let text = (try? String(contentsOfFile: folder + "/alerts.txt", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    /// The farm's alert events, oldest first.
    private static func stream(_ redis: RedisServer) throws -> [String] {
        try redis.client().run("XRANGE", "{pushfarm}:alerts", "-", "+").entries.map {
            "\($0["type"] ?? "") \($0["alert"] ?? "") \($0["app"] ?? $0["host"] ?? $0["subject"] ?? "")"
        }
    }

    private static func eventually(
        _ lines: [String], in folder: String, within limit: Duration = .seconds(60)
    ) async throws {
        try await FarmHarness.eventually("told: \(lines)", within: limit) { sentAlerts(folder) == lines }
    }

    @Test func `the alert of a paused app fires once by event, log, command and webhook, and clears`()
        async throws
    {
        let secret = "hook-4711"
        let hook = try WebhookReceiver([.status(500)])
        let farm = try await Farm(
            Farm.Options(
                faults: ["answer 403 reason=InvalidProviderToken"],
                lines: Self.lines("webhook: \"http://127.0.0.1:\(hook.port)/\(secret)?key=\(secret)\"")))
        _ = try await farm.ready()
        try farm.push([Job(id: "kept", tokens: Tokens.make(20))])
        try await Self.eventually(["alert.fired app_paused demo"], in: farm.folder.path)
        let event = try await farm.event("alert.fired")
        #expect(event["alert"] == "app_paused" && event["sent_by"] == "here")
        #expect(event["text"]?.contains("InvalidProviderToken") == true)
        #expect(try Self.stream(farm.redis) == ["alert.fired app_paused demo"])
        // The receiver refused the first attempt, so the webhook gets a second request.
        try await FarmHarness.eventually("the webhook has it") { await hook.requests.count == 2 }
        let request = try #require(await hook.requests.last)
        #expect(request.line == "POST /\(secret)?key=\(secret) HTTP/1.1")
        #expect(
            request.body["type"] as? String == "alert.fired" && request.body["app"] as? String == "demo")
        #expect((request.body["since"] as? Int ?? 0) > 1_700_000_000_000)
        let status = try await farm.run("status", "--json")
        #expect(status.status == 1 && status.output.contains(#""alert":"app_paused""#))
        #expect(try farm.scrape().sum("pushfarm_alerts_active", ["alert": "app_paused"]) == 1)

        // After a restart the coordinator still knows that the alert has fired.
        farm.coordinator.signal(SIGTERM)
        #expect(try await farm.coordinator.wait() == .exited(0))
        #expect(!farm.coordinator.error.contains(secret))
        try farm.restartCoordinator()
        try await FarmHarness.eventually("the alert is known") {
            (try? farm.scrape())?.sum("pushfarm_alerts_active", ["alert": "app_paused"]) == 1
        }
        try farm.gateway.control("answer off")
        #expect(try await farm.run("resume", "demo").status == 0)
        try await Self.eventually(
            ["alert.fired app_paused demo", "alert.cleared app_paused demo"], in: farm.folder.path)
        #expect(try await farm.finished("kept").delivered == 20)
        _ = try await farm.event("alert.cleared")
        #expect(try farm.events("alert.fired").count == 1)
        #expect(try farm.redis.client().run("HLEN", "{pushfarm}:active_alerts").integer == 0)
        #expect(await hook.requests.count == 3)
    }

    @Test func `the alert of an old backlog uses the reloaded limit, and clears with the backlog`()
        async throws
    {
        let farm = try await Farm(
            Farm.Options(
                faults: ["silence 1"], appLines: ["request_timeout: 20"],
                lines: Self.lines("backlog_age: 3000").map {
                    $0.replacing("alerts.txt", with: "before.txt")
                }))
        _ = try await farm.ready()
        try farm.push([Job(id: "late", tokens: Tokens.make(5))])
        let file = farm.folder.path + "/pushfarm.yaml"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        try farm.folder.write(
            text.replacing("backlog_age: 3000", with: "backlog_age: 3")
                .replacing("before.txt", with: "alerts.txt"), to: "pushfarm.yaml")
        let reload = try await farm.run("reload", "all")
        #expect(
            reload.status == 0 && reload.output.contains("alerts: as the configuration has them now;"),
            "\(reload)")
        try await Self.eventually(["alert.fired backlog_age demo"], in: farm.folder.path)
        try farm.gateway.control("silence off")
        try await Self.eventually(
            ["alert.fired backlog_age demo", "alert.cleared backlog_age demo"], in: farm.folder.path,
            within: .seconds(120))
        #expect(try await farm.finished("late").delivered == 5)
    }

    @Test
    func `the alert of a silent gateway fires, and clears with the gateway's first responses`()
        async throws
    {
        let farm = try await Farm(Farm.Options(faults: ["refuse 100%"], lines: Self.lines()))
        _ = try await farm.ready()
        try farm.push([Job(id: "refused", tokens: Tokens.make(300))])
        try await Self.eventually(["alert.fired gateway_stalled demo"], in: farm.folder.path)
        try farm.gateway.control("refuse off")
        let jobRecord = try await farm.finished("refused")
        #expect(jobRecord.delivered == 300)
        try await Self.eventually(
            ["alert.fired gateway_stalled demo", "alert.cleared gateway_stalled demo"],
            in: farm.folder.path)
    }

    @Test
    func `the alert of a gateway with errors fires, and a job shows that it waits for the gateway`()
        async throws
    {
        // With `error_share: 100`, the alert about a share of errors never fires, so only the tested alert fires.
        let farm = try await Farm(
            Farm.Options(faults: ["answer 503"], lines: Self.lines("error_share: 100")))
        _ = try await farm.ready()
        try farm.push([Job(id: "held", tokens: Tokens.make(300))])
        try await Self.eventually(["alert.fired gateway_stalled demo"], in: farm.folder.path)
        let words = "demo: the gateway, or a proxy, responds to every push with ServiceUnavailable"
        let status = try await farm.run("status")
        #expect(status.status == 1 && status.output.contains(words), "\(status)")
        let job = try await farm.run("job", "held", "--json")
        #expect(job.output.contains(words), "\(job)")
        try farm.gateway.control("answer off")
        try await Self.eventually(
            ["alert.fired gateway_stalled demo", "alert.cleared gateway_stalled demo"],
            in: farm.folder.path)
    }

    @Test func `the alert of a worker that keeps crashing fires for the worker's host`() async throws {
        let farm = try await Farm(Farm.Options(workers: 1, lines: Self.lines()))
        _ = try await farm.ready()
        for _ in 1...3 {
            let worker = try await FarmHarness.eventually("a worker is ready") {
                try farm.scrape().sum("pushfarm_worker_up") == 1 ? farm.workers.first : nil
            }
            farm.kill(worker: worker)
            try await FarmHarness.eventually("it has ended") { !farm.workers.contains(worker) }
        }
        try await Self.eventually(["alert.fired worker_crash_loop here"], in: farm.folder.path)
        try await Self.eventually(
            ["alert.fired worker_crash_loop here", "alert.cleared worker_crash_loop here"],
            in: farm.folder.path, within: .seconds(150))
    }

    @Test func `alerts of a nearly full Redis and of gateway errors fire`() async throws {
        let farm = try await Farm(Farm.Options(lines: Self.lines("redis_memory: 60", "error_share: 20")))
        _ = try await farm.ready()
        let client = try farm.redis.client()
        let used = try #require(
            try client.run("INFO", "memory").text?.split(separator: "\r\n")
                .first { $0.hasPrefix("used_memory:") }?.split(separator: ":").last.flatMap { Int($0) })
        try client.run("CONFIG", "SET", "maxmemory", "\(used * 4 / 3)")
        try await Self.eventually(["alert.fired redis_full"], in: farm.folder.path)
        try client.run("CONFIG", "SET", "maxmemory", "\(used * 100)")
        try await Self.eventually(
            ["alert.fired redis_full", "alert.cleared redis_full"], in: farm.folder.path)
        try farm.push([
            Job(id: "bad", tokens: Tokens.make(100) + Tokens.make(60, start: "bad10000", seed: 9))
        ])
        _ = try await farm.finished("bad")
        try await Self.eventually(
            ["alert.fired redis_full", "alert.cleared redis_full", "alert.fired error_share demo"],
            in: farm.folder.path)
    }

    @Test func `the alert of an expiring certificate fires in advance`() async throws {
        let identity = try ThrowAwayAuthority().client(bundle: "com.example.demo", validity: .days(5))
        let pem = String(decoding: identity.pem.bytes, as: UTF8.self)
        let farm = try await Farm(
            Farm.Options(
                apps: { started, folder in
                    _ = try? folder.write(pem, to: "old.pem")
                    var app = App(started, credentials: "certificate: { file: \(folder.path)/old.pem }")
                    app.topic = "com.example.demo"
                    return [app]
                }, lines: Self.lines()))
        _ = try await farm.ready()
        try await Self.eventually(["alert.fired credential_expiring demo"], in: farm.folder.path)
        let event = try await farm.event("alert.fired")
        // The certificate expires in less than seven days, which is the second of three levels.
        #expect(event["level"] == "2" && event["text"]?.contains("expires in 4 days") == true)
        let text = try await farm.run("status")
        #expect(text.status == 1 && text.output.contains("! demo: its certificate expires in 4 days"))
    }

    @Test func `a hanging alert command is killed with its children, and delivery continues`()
        async throws
    {
        let farm = try await Farm(
            Farm.Options(
                faults: ["answer 403 reason=InvalidProviderToken"],
                lines: [
                    "alerts: { command: \"echo x >> FOLDER/tries; tail -f FOLDER/tries & tail -f FOLDER/tries; true\" }",
                    MetricsTests.listen,
                ]))
        _ = try await farm.ready()
        try farm.push([Job(id: "kept", tokens: Tokens.make(20))])
        func tries() -> Int {
            ((try? String(contentsOfFile: farm.folder.path + "/tries", encoding: .utf8)) ?? "")
                .split(separator: "\n").count
        }
        try await FarmHarness.eventually("it is tried three times", within: .seconds(90)) {
            try farm.scrape().sum("pushfarm_alert_failures_total") == 1
        }
        #expect(tries() == 3)
        #expect(farm.coordinator.error.contains("alert notification failed"))
        func tails() -> Int {
            ProcessTable.naming(folder: farm.folder.path).count {
                ProcessTable.visibleText(of: $0).hasPrefix("tail\0")
            }
        }
        #expect(tails() == 0)
        try farm.gateway.control("answer off")
        #expect(try await farm.run("resume", "demo").status == 0)
        #expect(try await farm.finished("kept").delivered == 20)
        // If the coordinator is killed, its alert commands must end too.
        try await FarmHarness.eventually("the command gets that the alert clears") { tails() == 2 }
        farm.coordinator.signal(SIGKILL)
        try await FarmHarness.eventually("the command has ended", within: .seconds(5)) { tails() == 0 }
    }

    @Test func `a hanging webhook gets three attempts, and the next alert is sent`()
        async throws
    {
        let hook = try WebhookReceiver([.nothing, .nothing, .nothing])
        let farm = try await Farm(
            Farm.Options(
                faults: ["answer 403 reason=InvalidProviderToken"],
                apps: { started, _ in [App(started), App(started, name: "other")] },
                lines: [
                    "alerts: { webhook: \"http://127.0.0.1:\(hook.port)/alerts\" }",
                    MetricsTests.listen,
                ]))
        _ = try await farm.ready()
        try farm.push([Job(id: "kept", tokens: Tokens.make(20))])
        try await FarmHarness.eventually("the first try") { await hook.requests.count == 1 }
        try farm.gateway.control("answer off")
        try farm.push([Job(id: "others", tokens: Tokens.make(20))], to: "other")
        #expect(try await farm.finished("others", app: "other").delivered == 20)
        #expect(await hook.requests.count < 3)
        try await FarmHarness.eventually("the webhook is given up", within: .seconds(60)) {
            try farm.scrape().sum("pushfarm_alert_failures_total") == 1
        }
        #expect(await hook.requests.count == 3)
        #expect(farm.coordinator.error.contains("no response in time"))
        #expect(try await farm.run("resume", "demo").status == 0)
        #expect(try await farm.finished("kept").delivered == 20)
        try await FarmHarness.eventually("the next alert is sent") { await hook.requests.count == 4 }
        let types = await hook.requests.map { $0.body["type"] as? String }
        #expect(types == ["alert.fired", "alert.fired", "alert.fired", "alert.cleared"])
    }
}

@Suite(.startsProcesses(limit: .seconds(300))) struct HostAlertTests {
    @Test func `only one host fires an app's alert or the alert of a lost host`() async throws {
        let file = "FOLDER/../alerts.txt"
        let farm = try await Farm(
            hosts: ["alpha", "beta", "gamma"],
            Farm.Options(
                workers: 1, faults: ["answer 403 reason=InvalidProviderToken"],
                lines: [
                    #"alerts: { command: "echo $PUSHFARM_ALERT_TYPE $PUSHFARM_ALERT_ALERT $PUSHFARM_ALERT_APP$PUSHFARM_ALERT_SUBJECT >> \#(file)" }"#
                ]))
        func sentAlerts() -> [String] {
            let text =
                (try? String(contentsOfFile: farm.folder.path + "/alerts.txt", encoding: .utf8)) ?? ""
            return text.split(separator: "\n").map(String.init)
        }
        try await farm.startAll()
        try farm.redis.client().run(
            "RPUSH", "pushfarm:demo", Job(id: "kept", tokens: Tokens.make(60)).text)
        try await eventually("the pause fires") { sentAlerts() == ["alert.fired app_paused demo"] }
        // When Redis has stored the fired alert, the host that next owns the intake must not fire the alert again.
        try await eventually("Redis has the pause") {
            try farm.redis.client().run("HLEN", "{pushfarm}:active_alerts").integer == 1
        }
        let owner = try #require(try farm.owners()["intake"])
        farm.signal(owner, SIGKILL)
        try await eventually("the host has ended", within: .seconds(90)) {
            sentAlerts().contains("alert.fired host_gone \(owner)")
        }
        try await eventually("another host has the intake", within: .seconds(90)) {
            try farm.owners()["intake"].map { $0 != owner } ?? false
        }
        try farm.start(owner)
        try await eventually("the host is back", within: .seconds(90)) {
            sentAlerts().contains("alert.cleared host_gone \(owner)")
        }
        #expect(sentAlerts().count { $0.contains("app_paused") } == 1, "\(sentAlerts())")
        #expect(sentAlerts().count { $0.contains("host_gone") } == 2, "\(sentAlerts())")
    }

    @Test func `a host that was stopped for longer than its leases fires the lease alert once`()
        async throws
    {
        let hook = try WebhookReceiver()
        let farm = try await Farm(
            hosts: Farm.twoHosts,
            Farm.Options(workers: 1, lines: ["alerts: { webhook: \"http://127.0.0.1:\(hook.port)/alerts\" }"])
        )
        func sentAlerts() async -> [String] {
            await hook.requests.filter { $0.body["alert"] as? String == "lease_lost" }.map {
                "\($0.body["type"] ?? "") \($0.body["host"] ?? "") by \($0.body["sent_by"] ?? "")"
            }
        }
        try await farm.startAll()
        farm.signal("alpha", SIGSTOP)
        try await farm.shared(by: ["beta"])
        farm.signal("alpha", SIGCONT)
        try await eventually("the loss fires") { await sentAlerts() == ["alert.fired alpha by alpha"] }
        try await farm.shared(by: ["alpha", "beta"])
        try await eventually("the alert clears", within: .seconds(90)) { await sentAlerts().count == 2 }
        #expect(await sentAlerts().last == "alert.cleared alpha by alpha")
        let tokens = Tokens.make(40)
        try farm.push([Job(id: "after", tokens: tokens)])
        #expect(try await farm.finished([Job(id: "after", tokens: tokens)]).delivered == 40)
    }
}
