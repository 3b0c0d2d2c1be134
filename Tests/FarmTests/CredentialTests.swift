import FarmHarness
import Foundation
import OpenSSL
import Testing

/// Credentials that the gateway refuses, and broken credential files.
@Suite(.startsProcesses) struct CredentialTests {
    private static var unknownKey: String {
        String(decoding: SigningKey.makePEM().bytes, as: UTF8.self)
    }

    /// A farm whose app "demo" has a key that the gateway does not know. The farm's app "other" has a valid key.
    private func farmWithWrongKey() async throws -> Farm {
        try await Farm(
            Farm.Options(apps: { started, folder in
                let file = folder.path + "/key.p8"
                // The test ignores an error of this write, because a later check fails without the file.
                _ = try? folder.write(Self.unknownKey, to: "key.p8")
                return [App(started, keyFile: file), App(started, name: "other")]
            }))
    }

    /// Pushes a job to the app with the wrong key, and waits until the app is paused.
    private func paused(_ farm: Farm, _ tokens: [String]) async throws {
        try farm.push([Job(id: "kept", tokens: tokens)])
        let event = try await farm.event("app.paused")
        #expect(event["reason"]?.contains("InvalidProviderToken") == true)
        let status = try await farm.run("status", "--json")
        #expect(status.status == 1)
        let apps = try Status(json: status.output).apps
        let app = try #require(apps.first { $0.app == "demo" })
        #expect(app.state == "paused" && app.pausedReason?.contains("InvalidProviderToken") == true)
        #expect(apps.first { $0.app == "other" }?.state == "running")
    }

    @Test func `a refused key pauses only its app, and the right key resumes it`()
        async throws
    {
        let farm = try await farmWithWrongKey()
        let tokens = Tokens.make(1_000)
        try await paused(farm, tokens)
        // The workers continue to send pushes of the app "other".
        let others = Tokens.make(300, seed: 7)
        try farm.push([Job(id: "o", tokens: others)], to: "other")
        #expect(try await farm.finished("o", app: "other").delivered == 300)
        // The paused app loses no push and does not retry in a loop.
        let kept = try #require(try await farm.jobRecord("kept"))
        #expect(kept.state == "open" && kept.failed == 0 && kept.delivered == 0 && kept.addsUp)
        let refused = try farm.gateway.ledger().lines.count { $0.reason == "InvalidProviderToken" }
        #expect((1...10).contains(refused), "\(refused) requests with a wrong key")
        #expect(try farm.events("app.paused").count == 1)
        let open = "every user of this machine can read a key file"
        #expect(farm.coordinator.error.contains("\(open) app=demo"), "it was written for all to read")
        #expect(!farm.coordinator.error.contains("\(open) app=other"))

        try farm.folder.copy(farm.gateway.started.keyFile, to: "key.p8")
        _ = try await farm.event("app.resumed")
        let jobRecord = try await farm.finished("kept")
        #expect(jobRecord.delivered == 1_000 && jobRecord.maybeDuplicated == 0)
        let ledger = try farm.gateway.ledger()
        #expect(ledger.lost(of: tokens + others) == 0 && ledger.doubles == 0)
        #expect(try await farm.run("status").status == 0)
    }

    @Test func `a key that is still wrong pauses the app again after an operator's resume`() async throws {
        let farm = try await farmWithWrongKey()
        try await paused(farm, Tokens.make(100))
        let resumed = try await farm.run("resume", "demo", "--json")
        #expect(resumed.status == 0)
        #expect(resumed.output.hasPrefix("{\"app\":\"demo\",\"resumed\":true,"))
        _ = try await farm.event("app.paused", number: 2)
        #expect(try farm.events("app.resumed").count == 1)
        let kept = try #require(try await farm.jobRecord("kept"))
        #expect(kept.failed == 0 && kept.delivered == 0 && kept.addsUp)
        let other = try await farm.run("resume", "other", "--json")
        #expect(other.status == 0 && other.output.hasPrefix("{\"app\":\"other\",\"resumed\":false,"))
        #expect(try await farm.run("resume", "nobody").status == 2)
    }

    @Test func `a pause survives a restart of the coordinator`() async throws {
        let farm = try await farmWithWrongKey()
        try await paused(farm, Tokens.make(100))
        farm.coordinator.signal(SIGTERM)
        #expect(try await farm.coordinator.wait() == .exited(0))
        let before = try farm.gateway.ledger().lines.count
        try farm.restartCoordinator()
        _ = try await farm.ready()
        #expect(try farm.events("app.paused").count == 1)
        #expect(try farm.gateway.ledger().lines.count == before)
        try farm.folder.copy(farm.gateway.started.keyFile, to: "key.p8")
        #expect(try await farm.finished("kept").delivered == 100)
    }

    @Test func `workers continue while a CA file is missing`() async throws {
        let farm = try await Farm(
            Farm.Options(apps: { started, folder in
                var app = App(started)
                app.caFile = folder.path + "/ca.pem"
                _ = try? folder.copy(started.caFile, to: "ca.pem")
                return [app]
            }))
        let file = farm.folder.path + "/ca.pem"
        try farm.push([Job(id: "before", tokens: Tokens.make(200))])
        #expect(try await farm.finished("before").delivered == 200)
        try FileManager.default.removeItem(atPath: file)
        #expect(try await farm.run("restart", "all").status == 0)
        let tokens = Tokens.make(200, seed: 2)
        try farm.push([Job(id: "without", tokens: tokens)])
        #expect(try await farm.finished("without").delivered == 200)
        // The coordinator must treat a file without a certificate like a missing file.
        try farm.folder.write("-----BEGIN", to: "ca.pem")
        #expect(try await farm.run("restart", "all").status == 0)
        try farm.push([Job(id: "broken", tokens: tokens)])
        #expect(try await farm.finished("broken").delivered == 200)
        try farm.folder.copy(farm.gateway.started.caFile, to: "ca.pem")
        try farm.push([Job(id: "after", tokens: tokens)])
        #expect(try await farm.finished("after").delivered == 200)
    }

    @Test func `a reload with a broken key changes nothing and reports the reason`() async throws {
        let farm = try await Farm(
            Farm.Options(apps: { started, folder in
                _ = try? folder.copy(started.keyFile, to: "key.p8")
                return [App(started, keyFile: folder.path + "/key.p8")]
            }))
        _ = try await farm.ready()
        try farm.folder.write("not a key", to: "key.p8")
        // The coordinator notices the broken credential file without a `reload` command.
        try await eventually("status says so") {
            let status = try await farm.run("status")
            return status.status == 1
                && status.output.contains("here: credentials not followed: demo: ")
                && status.output.contains("key.p8")
        }
        for refused in [
            try await farm.run("reload", "all", "--dry-run"), try await farm.run("reload", "all"),
        ] {
            #expect(refused.status == 1 && refused.output.contains("key.p8"), "\(refused)")
        }
        try farm.push([Job(id: "old", tokens: Tokens.make(200))])
        #expect(try await farm.finished("old").delivered == 200)
        try farm.folder.copy(farm.gateway.started.keyFile, to: "key.p8")
        let dry = try await farm.run("reload", "all", "--dry-run")
        #expect(dry.status == 0 && dry.output.contains("credentials would be reloaded"), "\(dry)")
        let done = try await farm.run("reload", "all")
        #expect(done.status == 0 && done.output.contains("credentials are reloaded"), "\(done)")
        try await eventually("status shows no trouble") { try await farm.run("status").status == 0 }
    }

    @Test
    func `an app is paused while its CA file has no certificate, and status shows the reason`()
        async throws
    {
        let farm = try await Farm(
            Farm.Options(apps: { started, folder in
                var app = App(started)
                app.caFile = folder.path + "/ca.pem"
                _ = try? folder.write("", to: "ca.pem")
                return [app]
            }))
        let pause = try await farm.event("app.paused")
        #expect(pause["reason"]?.contains("ca.pem") == true)
        #expect(try await farm.run("status").status == 1)
        try farm.push([Job(id: "kept", tokens: Tokens.make(200))])
        try farm.folder.copy(farm.gateway.started.caFile, to: "ca.pem")
        #expect(try await farm.finished("kept").delivered == 200)
    }

    /// The configuration line with the key that the gateway knows.
    private static func key(_ started: Gateway.Started, team: String) -> String {
        "key: { file: \(started.keyFile), id: \(started.keyID), team: \(team) }"
    }

    private static let wrongTeam = "WRONGTEAM1"

    /// A farm whose app "demo" has a wrong team, and whose app "other" has the same key with the right team.
    private func farmWithWrongTeam() async throws -> Farm {
        try await Farm(
            Farm.Options(apps: { started, _ in
                [
                    App(started, credentials: Self.key(started, team: Self.wrongTeam)),
                    App(started, name: "other"),
                ]
            }))
    }

    /// Changes the team of the app "demo" in the configuration.
    private func changeTeam(_ farm: Farm, to team: String) throws {
        let started = farm.gateway.started
        let apps = [
            App(started, credentials: Self.key(started, team: team)), App(started, name: "other"),
        ]
        try farm.write(apps: apps)
    }

    private func refusals(_ farm: Farm) throws -> Int {
        try farm.gateway.ledger().lines.count { $0.reason == "InvalidProviderToken" }
    }

    @Test func `a wrong team pauses, the right team delivers at once, and a wrong team pauses again`()
        async throws
    {
        let farm = try await farmWithWrongTeam()
        let team = farm.gateway.started.team
        func push(_ id: String, _ seed: UInt64, to app: String = "demo") throws {
            try farm.push([Job(id: id, tokens: Tokens.make(1, seed: seed))], to: app)
        }
        // The app "other" has the same key and the right team. The farm must not use its provider token for the app "demo".
        try push("o", 1, to: "other")
        #expect(try await farm.finished("o", app: "other").delivered == 1)
        try push("first", 2)
        #expect(try await farm.event("app.paused")["reason"]?.contains("InvalidProviderToken") == true)
        #expect(try refusals(farm) == 1)
        #expect(farm.mintedTokens == 2)

        try changeTeam(farm, to: team)
        #expect(try await farm.run("reload", "all").status == 0)
        #expect(try await farm.finished("first").delivered == 1)
        #expect(try refusals(farm) == 1 && farm.gateway.counter("tokens_verified") == 2)
        // The coordinator has made no third token, because both apps now share the token of the app "other".
        #expect(farm.mintedTokens == 2)

        // After the configuration has the wrong team again, the farm makes a token with the wrong team for this app, and does not
        // use the token with the right team.
        try changeTeam(farm, to: Self.wrongTeam)
        #expect(try await farm.run("reload", "all").status == 0)
        try push("second", 3)
        _ = try await farm.event("app.paused", number: 2)
        #expect(try refusals(farm) == 2)
        #expect(farm.mintedTokens == 3)
        let second = try #require(try await farm.jobRecord("second"))
        #expect(second.delivered == 0 && second.failed == 0 && second.addsUp)

        // After the configuration has the right team again, the app resumes by itself. A later `resume` by an operator must not
        // pause the app.
        try changeTeam(farm, to: team)
        #expect(try await farm.run("reload", "all").status == 0)
        #expect(try await farm.run("resume", "demo").status == 0)
        #expect(try await farm.finished("second").delivered == 1)
        #expect(try refusals(farm) == 2 && farm.mintedTokens == 3)
        #expect(try farm.events("app.paused").count == 2)
    }

    @Test func `a refused provider token is never sent again, even after several resumes`()
        async throws
    {
        let farm = try await farmWithWrongTeam()
        try farm.push([Job(id: "kept", tokens: Tokens.make(1))])
        _ = try await farm.event("app.paused")
        #expect(try refusals(farm) == 1)
        // At the first `resume` the coordinator makes one new token, because the gateway may accept the key by now.
        #expect(try await farm.run("resume", "demo").status == 0)
        #expect(
            try await farm.event("app.paused", number: 2)["reason"]?.contains("InvalidProviderToken")
                == true)
        #expect(try refusals(farm) == 2 && farm.gateway.counter("tokens_verified") == 2)
        // At the second `resume` the coordinator makes no further token.
        #expect(try await farm.run("resume", "demo").status == 0)
        let third = try await farm.event("app.paused", number: 3)
        #expect(third["reason"]?.contains("correct key, id or team") == true, "\(third)")
        // After a restart the coordinator makes no further token either, because Redis has the record of the refusal.
        farm.coordinator.signal(SIGTERM)
        #expect(try await farm.coordinator.wait() == .exited(0))
        try farm.restartCoordinator()
        _ = try await farm.ready()
        #expect(try await farm.run("resume", "demo").status == 0)
        _ = try await farm.event("app.paused", number: 4)
        #expect(try refusals(farm) == 2 && farm.gateway.counter("tokens_verified") == 2)
        let kept = try #require(try await farm.jobRecord("kept"))
        #expect(kept.delivered == 0 && kept.failed == 0 && kept.addsUp)

        try changeTeam(farm, to: farm.gateway.started.team)
        farm.coordinator.signal(SIGTERM)
        #expect(try await farm.coordinator.wait() == .exited(0))
        try farm.restartCoordinator()
        #expect(try await farm.finished("kept").delivered == 1)
        #expect(try refusals(farm) == 2)
    }

    @Test func `another app with the same key does not send a refused provider token`() async throws {
        let farm = try await Farm(
            Farm.Options(apps: { started, folder in
                _ = try? folder.write(Self.unknownKey, to: "key.p8")
                return ["demo", "other"].map {
                    App(started, name: $0, keyFile: folder.path + "/key.p8")
                }
            }))
        try await paused(farm, Tokens.make(1))
        #expect(try refusals(farm) == 1)
        try await eventually("the other app has another token") { farm.mintedTokens == 2 }
        try farm.push([Job(id: "o", tokens: Tokens.make(1, seed: 2))], to: "other")
        try await eventually("it is paused, too") {
            let status = try Status(json: try await farm.run("status", "--json").output)
            return status.apps.allSatisfy { $0.state == "paused" }
        }
        #expect(try refusals(farm) == 2 && farm.gateway.counter("tokens_verified") == 2)
    }

    @Test func `only a change of the refused credential files ends the pause`()
        async throws
    {
        let farm = try await Farm(
            Farm.Options(apps: { started, folder in
                _ = try? folder.write(Self.unknownKey, to: "key.p8")
                _ = try? folder.copy(started.keyFile, to: "other.p8")
                _ = try? folder.copy(started.caFile, to: "ca.pem")
                var demo = App(started, keyFile: folder.path + "/key.p8")
                demo.caFile = folder.path + "/ca.pem"
                return [demo, App(started, name: "other", keyFile: folder.path + "/other.p8")]
            }))
        try await paused(farm, Tokens.make(10))
        let requests = try farm.gateway.ledger().lines.count
        let key = try String(contentsOfFile: farm.folder.path + "/key.p8", encoding: .utf8)
        func changes(of app: String) -> Int {
            farm.coordinator.error.split(separator: "\n").count {
                $0.contains("credential files have changed") && $0.hasSuffix("app=\(app)")
            }
        }
        try farm.folder.copy(farm.gateway.started.caFile, to: "ca.pem")
        try await eventually("the new CA file is seen") { changes(of: "demo") == 1 }
        try farm.folder.write(Self.unknownKey, to: "other.p8")
        try await eventually("the other app's key is seen") { changes(of: "other") == 1 }
        try farm.folder.write(key, to: "key.p8")
        try await eventually("the same key is seen") { changes(of: "demo") == 2 }
        // When `reload` ends, the coordinator has applied the changes of the files.
        #expect(try await farm.run("reload", "all").status == 0)
        #expect(try farm.events("app.resumed").isEmpty)
        #expect(try farm.gateway.ledger().lines.count == requests)

        try farm.folder.copy(farm.gateway.started.keyFile, to: "key.p8")
        #expect(try await farm.finished("kept").delivered == 10)
        #expect(try farm.events("app.resumed").count == 1)
    }

    @Test func `apps with certificates deliver pushes`() async throws {
        let farm = try await Farm(
            Farm.Options(
                environment: ["P12_PASSWORD": "simulator"],
                apps: { started, _ in
                    let folder = started.caFile.dropLast("ca.pem".count)
                    return [
                        App(
                            started, name: "pkcs12",
                            credentials:
                                "certificate: { file: \(folder)push.p12, password_env: P12_PASSWORD }"),
                        App(
                            started, name: "pem", credentials: "certificate: { file: \(folder)push.pem }"),
                    ]
                }))
        for app in ["pkcs12", "pem"] {
            let tokens = Tokens.make(200, seed: app == "pem" ? 1 : 2)
            try farm.push([Job(id: "c", tokens: tokens)], to: app)
            let jobRecord = try await farm.finished("c", app: app)
            #expect(jobRecord.delivered == 200 && jobRecord.maybeDuplicated == 0)
            #expect(try farm.gateway.ledger().lost(of: tokens) == 0)
        }
        #expect(try farm.gateway.counter("tokens_verified") == 0)
        let doctor = try await farm.run("doctor", "--json")
        #expect(doctor.output.contains("pem topic"))
    }
}

@Suite(.startsProcesses) struct TokenAgeTests {
    @Test func `an expired provider token is renewed once, and not again within 20 minutes`() async throws {
        let farm = try await Farm(Farm.Options(simulatorOptions: ["--token-lifetime", "2"]))
        try await eventually("the first token is made") { farm.mintedTokens == 1 }
        // Each job is due in 4 seconds, when the provider token is older than the 2 seconds that the gateway accepts.
        func push(_ id: String, _ tokens: [String]) throws {
            let due = Int(Date().timeIntervalSince1970) + 4
            try farm.push([Job(id: id, tokens: tokens, fields: #""deliver_at":\#(due)"#)])
        }
        try push("first", Tokens.make(300))
        #expect(try await farm.finished("first").delivered == 300)
        let refused = try farm.gateway.ledger().lines.count { $0.reason == "ExpiredProviderToken" }
        #expect((1...2).contains(refused), "one a worker")
        #expect(try farm.events("app.paused").isEmpty)
        #expect(farm.mintedTokens == 2)

        try push("second", Tokens.make(100, seed: 2))
        let pause = try await farm.event("app.paused")
        #expect(pause["reason"]?.contains("ExpiredProviderToken") == true)
        #expect(farm.mintedTokens == 2)
        let second = try #require(try await farm.jobRecord("second"))
        #expect(second.failed == 0 && second.delivered == 0 && second.addsUp)
    }
}

extension Farm {
    /// The number of provider tokens that the coordinator has made.
    var mintedTokens: Int {
        coordinator.error.components(separatedBy: "provider token created").count - 1
    }
}
