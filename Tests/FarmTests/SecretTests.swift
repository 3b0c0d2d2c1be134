import FarmHarness
import Foundation
import OpenSSL
import Testing

/// Runs a farm under load with many faults. Then searches for secrets in every place that another user could read.
/// No place may contain a secret.
@Suite(.startsProcesses) struct SecretTests {
    /// The place where the coordinator reads the Redis password.
    enum PasswordSource: CaseIterable { case address, file }

    private static let redisPassword = "rEd1s-pa55word-0f-th1s-test"
    private static let archivePassword = "simulator"
    private static let wrongPassword = "n0t-the-archives-pa55word"
    private static let unknownKey = String(decoding: SigningKey.makePEM().bytes, as: UTF8.self)

    @Test(arguments: PasswordSource.allCases)
    func `keys, passwords, provider tokens and device tokens are only in allowed places`(
        place: PasswordSource
    ) async throws {
        let farm = try await farm(place)
        let monitor = try Child(
            "monitor", "redis-cli", ["-s", farm.redis.socket, "MONITOR"],
            environment: ["REDISCLI_AUTH": Self.redisPassword], in: farm.folder.path)
        try await eventually("Redis is listened to") { monitor.output.hasPrefix("OK") }
        let tokens = try await work(farm)

        let keys = try signingKeys(farm)
        let secrets =
            keys + Secrets(password: Self.redisPassword, "Redis's password")
            + Secrets(password: Self.wrongPassword, "the archive's password") + Secrets.bearer
            + (try Secrets(privateKey: clientPEM(farm), "the certificate's key"))
        let all = secrets + Secrets(tokens: tokens)
        let intake = try await farm.ready().intake.pid

        let children = farm.coordinator.descendants
        #expect(children.count >= 3 && children.contains(intake))
        for pid in children {
            #expect(all.found(in: ProcessTable.visibleText(of: pid)) == [], "process \(pid)")
            #expect(
                !ProcessTable.visibleText(of: pid).contains("HOME="), "it inherits what it needs only")
            #expect(!ProcessTable.visibleText(of: pid).contains("P12_PASSWORD"))
        }
        try checkMemory(of: children, farm.coordinator.pid, keys)
        // Workers need the key of a certificate. The intake process, which parses jobs, must not have it.
        if ProcessMemory.mayRead(intake) {
            let certificate = try Secrets(privateKey: clientPEM(farm), "the certificate's key")
            #expect(ProcessMemory(pid: intake).found(keys + certificate + Secrets.bearer) == [])
        }
        try await checkRedis(farm, monitor, secrets)

        farm.coordinator.signal(SIGTERM)
        #expect(try await farm.coordinator.wait() == .exited(0))
        // The output is complete only after the coordinator has ended.
        let logs = farm.coordinator.output + farm.coordinator.error
        #expect(logs.contains("worker ended") && logs.contains("provider token created"))
        #expect(all.found(in: logs) == [])
        try checkFiles(farm, secrets, Secrets(tokens: tokens))
    }

    // MARK: The run

    private func farm(_ place: PasswordSource) async throws -> Farm {
        try await Farm(
            Farm.Options(
                redisPassword: Self.redisPassword, passwordInFile: place == .file,
                environment: [
                    "P12_PASSWORD": Self.archivePassword, "PUSHFARM_LOG_LEVEL": "trace",
                    "PUSHFARM_LOG_FORMAT": place == .file ? "json" : "text",
                    "SWIFT_BACKTRACE":
                        "enable=yes,symbolicate=off,interactive=no,color=no,output-to=stderr",
                ],
                apps: { started, folder in
                    // The test ignores an error of this write, because a later check fails without the file.
                    _ = try? folder.write(Self.unknownKey, to: "unknown.p8")
                    _ = try? folder.write(Self.wrongPassword + "\n", to: "wrong-password")
                    let credentials = String(started.caFile.dropLast("ca.pem".count))
                    return [
                        App(started),
                        App(started, name: "unknown", keyFile: folder.path + "/unknown.p8"),
                        App(
                            started, name: "archive",
                            credentials:
                                "certificate: { file: \(credentials)push.p12, password_env: P12_PASSWORD }"
                        ),
                        App(
                            started, name: "pem",
                            credentials: "certificate: { file: \(credentials)push.pem }"),
                        App(
                            started, name: "locked",
                            credentials:
                                "certificate: { file: \(credentials)push.p12, password_file: \(folder.path)/wrong-password }"
                        ),
                    ]
                }))
    }

    /// Runs jobs of all kinds, a crashing worker, and commands. Returns the device tokens.
    private func work(_ farm: Farm) async throws -> [String] {
        let good = Tokens.make(60)
        let bad = Tokens.make(3, start: "bad00000", seed: 2)
        let kept = Tokens.make(3, seed: 3)
        let refused = Tokens.make(6, seed: 4)
        let before = try await farm.ready()
        try farm.push([
            Job(id: "mixed", tokens: good + bad + ["zz" + refused[0]], fields: #""receipts":"all""#),
            Job(id: "mixed", tokens: [refused[1]]),
        ])
        // The farm refuses these jobs. Their invalid fields contain tokens, which must not appear in logs.
        for text in [
            #"{"id":"r1","tokens":["\#(refused[2])"],"payload":{},"topic":"\#(refused[2]) \#(refused[2])"}"#,
            #"{"id":"r2","\#(refused[3])":1}"#, #"{"id":"r3","tokens":["\#(refused[4])""#,
            #"{"id":"r4","app":"\#(refused[5])","tokens":["\#(refused[5])"],"payload":{}}"#,
        ] { try farm.push(text) }
        #expect(try await farm.finished("mixed").delivered == good.count)
        _ = try await farm.event("job.refused", number: 4)
        for app in ["archive", "pem"] {
            try farm.push([Job(id: app, tokens: [good[0]])], to: app)
            #expect(try await farm.finished(app, app: app).delivered == 1)
        }
        try farm.push([Job(id: "kept", tokens: kept)], to: "unknown")
        _ = try await farm.event("app.paused", app: "unknown")
        _ = try await farm.event("app.paused", app: "locked")

        // A worker crashes and writes a crash report while it has pushes of a job in memory.
        try farm.gateway.control("latency 300ms")
        try farm.push([Job(id: "crash", tokens: good)])
        try await farm.gateway.requests(good.count + bad.count + 4)
        let victim = before.workers[0].pid
        farm.signal(worker: victim, SIGSEGV)
        try await eventually("the crash is described") {
            farm.coordinator.error.contains("Backtrace took")
        }
        // The first signal from another process only starts Swift's crash handler. The second signal ends the worker.
        farm.signal(worker: victim, SIGSEGV)
        #expect(try await farm.finished("crash").delivered == good.count)
        try await eventually("the crash is reported") {
            farm.coordinator.error.contains("worker ended")
        }
        _ = try await farm.ready()
        var said = ""
        for command in [["status"], ["doctor"], ["jobs"], ["status", "--json"]] {
            let result = try await farm.run(
                command + ["--config", farm.folder.path + "/pushfarm.yaml"],
                environment: ["P12_PASSWORD": Self.archivePassword])
            said += result.output + result.error
        }
        #expect(Secrets(tokens: good).found(in: said) == [])
        return good + bad + kept + refused
    }

    // MARK: The places

    private func signingKeys(_ farm: Farm) throws -> Secrets {
        let known = try String(contentsOfFile: farm.gateway.started.keyFile, encoding: .utf8)
        return Secrets(privateKey: known, "the signing key")
            + Secrets(privateKey: Self.unknownKey, "the other signing key")
    }

    private func clientPEM(_ farm: Farm) throws -> String {
        let folder = farm.gateway.started.caFile.dropLast("ca.pem".count)
        return try String(contentsOfFile: folder + "push.pem", encoding: .utf8)
    }

    /// Checks that processes that parse network input hold no signing key. The search must find a key in the coordinator's
    /// memory, which proves that the search works.
    private func checkMemory(of children: [pid_t], _ coordinator: pid_t, _ keys: Secrets) throws {
        guard ProcessMemory.mayRead(coordinator) else { return }
        #expect(
            !ProcessMemory(pid: coordinator).found(keys).isEmpty, "the coordinator has keys to sign with")
        for pid in children { #expect(ProcessMemory(pid: pid).found(keys) == [], "process \(pid)") }
    }

    private func checkRedis(_ farm: Farm, _ monitor: Child, _ secrets: Secrets) async throws {
        let client = try farm.redis.client()
        // Compression could hide a secret in a dump.
        try client.run("CONFIG", "SET", "rdbcompression", "no")
        let keys = try client.run("KEYS", "*").array?.compactMap(\.bytes) ?? []
        #expect(keys.contains { String(decoding: $0, as: UTF8.self).hasPrefix("{pushfarm}:provider:") })
        for key in keys {
            let dump = try client.run("DUMP", String(decoding: key, as: UTF8.self)).bytes ?? []
            let text = String(decoding: key, as: UTF8.self)
            #expect(!dump.isEmpty, "\(text)")
            #expect(secrets.found(in: key + dump) == [], "\(text)")
        }
        monitor.signal(SIGTERM)
        _ = try await monitor.wait()
        #expect(secrets.found(inFile: monitor.outputFile) == [], "commands to Redis")
    }

    /// Checks all written files except the configuration and the test's own files. Redis's file contains device tokens and no
    /// other secret.
    private func checkFiles(_ farm: Farm, _ secrets: Secrets, _ tokens: Secrets) throws {
        let given = [
            "pushfarm.yaml", "unknown.p8", "wrong-password", "redis-password", "monitor.out",
            "ledger.jsonl",
        ]
        let folder = farm.folder.path
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder).filter {
            !given.contains($0) && !$0.hasPrefix("gateway/")
        }
        #expect(names.contains { $0.hasPrefix("var/") })
        let file = farm.redis.appendOnlyFile.dropFirst(folder.count + 1)
        #expect(names.contains(String(file)))
        #expect(!tokens.found(inFile: farm.redis.appendOnlyFile).isEmpty, "what jobs ask for is in it")
        for name in names {
            let isRedis = name.hasPrefix("appendonlydir/")
            let hidden = isRedis ? secrets : secrets + tokens
            #expect(hidden.found(inFile: "\(folder)/\(name)") == [], "\(name)")
            #expect(!name.contains("core"), "a core dump: \(name)")
        }
    }
}
