import Testing

@testable import FarmConfiguration

/// The sample configuration of the documentation.
let sample = """
    redis: redis://127.0.0.1:6379/0
    state_dir: ./state
    workers: 4
    shards: 128
    apps:
      demo:
        topic: com.example.demo
        environment: sandbox
        gateway: https://127.0.0.1:8443
        ca_file: ca.pem
        request_timeout: 2.5
        max_retry_after: 90
        key: { file: keys/AuthKey_ABC123DEFG.p8, id: ABC123DEFG, team: DEF123GHIJ }
      shop:
        topic: com.example.shop
        certificate: { file: /etc/push.p12, password_env: PUSH_P12_PASSWORD }
        connections: 3
        max_job_bytes: 1048576
        max_tokens: 5000
        max_backlog: 2_000_000
        max_inbox: 300
        suppression: { days: 7, tokens: 5000, hold_share: 30, pause_share: 90 }
        max_inbox_bytes: 4096
        proxy: http://proxy.example:3128
    """

func read(
    _ text: String, _ environment: [String: String] = [:], _ overrides: [Override] = [],
    purpose: Configuration.Purpose = .client
) throws(ConfigurationError) -> Configuration {
    try Configuration.read(
        text, file: "etc/farm.yaml", environment: environment, overrides: overrides, purpose: purpose,
        workingDirectory: "/srv")
}

struct FarmConfigurationTests {
    @Test func `a duration may have a unit`() throws {
        let farm = try read(
            """
            job_record_hours: 3d
            alerts: { backlog_age: 10m, repeat: "1h30m" }
            apps:
              demo:
                topic: com.example.demo
                key: { file: k, id: ABC123DEFG, team: DEF123GHIJ }
                request_timeout: 1500ms
                suppression: { days: 48h }
                dead_letters: { days: 7d }
                audit: { hours: 2d, megabytes: 1 }
                keep_alive: "10m"
            """)
        #expect(farm.jobRecordLife == .seconds(72 * 3600))
        #expect(farm.alerts.backlogAge == 600 && farm.alerts.again == .seconds(5400))
        let app = try #require(farm.app(named: "demo"))
        #expect(app.requestTimeout == .milliseconds(1500) && app.use.keepAlive == .seconds(600))
        #expect(app.suppression.days == 2 && app.deadLetters.days == 7 && app.audit.hours == 48)
    }

    @Test func `a tls gateway uses the binary protocol`() throws {
        let text = """
            apps:
              old:
                topic: com.example.old
                certificate: { file: /etc/push.p12 }
                gateway: tls://gateway.example
                feedback: tls://feedback.example
              tuned:
                topic: com.example.tuned
                certificate: { file: /etc/push.p12 }
                gateway: tls://[::1]:2200
                feedback: tls://feedback.example:99
                feedback_interval: 60
                connections: 4
                binary: { command: 1, quiet_time: 1.5, sentinel: true, key_updates: false, window: 10_000, max_dials: 60 }
            """
        let farm = try read(text)
        let old = try #require(farm.app(named: "old"))
        var binary = BinaryGateway()
        binary.feedback = HostPort(host: "feedback.example", port: 2196)
        #expect(old.gateway == HostPort(host: "gateway.example", port: 2195) && old.binary == binary)
        #expect([1, 2, 4, 7, 100].map { old.connections(workers: $0) } == [56, 28, 14, 8, 1])
        #expect(old.connections == nil && binary.command == 2 && binary.quietTime == .seconds(1))
        let tuned = try #require(farm.app(named: "tuned"))
        #expect(tuned.gateway == HostPort(host: "::1", port: 2200) && tuned.connections == 4)
        let own = try #require(tuned.binary)
        #expect(
            own.command == 1 && own.quietTime == .milliseconds(1500) && own.endsWithSentinel
                && !own.asksIfRead)
        #expect(binary.maxDials == 3_000 && own.maxDials == 60)
        #expect([1, 2, 7, 100].map { tuned.dialsPerMinute(workers: $0) } == [60, 30, 8, 1])
        #expect(old.use.maxDialBackOff == .seconds(180))
        #expect(own.window == 10_000 && own.feedback?.port == 99 && own.feedbackInterval == .seconds(60))
        #expect(try read(sample).app(named: "demo")?.binary == nil)
    }

    @Test func `reads every key of the sample`() throws {
        let farm = try read(sample)
        #expect(farm.redis?.description == "redis://127.0.0.1:6379/0")
        #expect(farm.stateDirectory == "/srv/etc/state")
        #expect(farm.workers == .fixed(4))
        #expect(farm.shards == 128)
        #expect(farm.apps.map(\.name) == ["demo", "shop"])
        let demo = try #require(farm.app(named: "demo"))
        #expect(demo.topic == "com.example.demo")
        #expect(demo.environment == .sandbox)
        #expect(demo.gateway == HostPort(host: "127.0.0.1", port: 8443))
        #expect(demo.caFile == "/srv/etc/ca.pem")
        #expect(demo.requestTimeout == .milliseconds(2500) && demo.maxRetryAfter == .seconds(90))
        #expect(
            demo.credentials
                == .key(file: "/srv/etc/keys/AuthKey_ABC123DEFG.p8", id: "ABC123DEFG", team: "DEF123GHIJ"))
        let shop = try #require(farm.app(named: "shop"))
        #expect(shop.gateway == HostPort(host: "api.push.apple.com", port: 443))
        #expect(shop.credentials == .certificate(file: "/etc/push.p12", keyFile: nil, password: nil))
        #expect(shop.maxRetryAfter == .seconds(600))
        #expect(shop.connections == 3 && shop.connections(workers: 8) == 3)
        #expect(shop.maxJobBytes == 1_048_576)
        #expect((shop.maxTokens, shop.maxBacklog) == (5000, 2_000_000))
        #expect((shop.maxInbox, shop.maxInboxBytes) == (300, 4096))
        #expect((demo.maxTokens, demo.maxBacklog) == (100_000, 10_000_000))
        #expect(demo.maxInbox == 1_000_000 && demo.maxInboxBytes == nil)
        #expect((shop.suppression.days, shop.suppression.tokens) == (7, 5000))
        #expect((shop.suppression.holdShare, shop.suppression.pauseShare) == (30, 90))
        #expect((demo.suppression.holdShare, demo.suppression.pauseShare) == (20, 95))
        #expect((demo.suppression.days, demo.suppression.tokens) == (30, 1_000_000))
        #expect(shop.proxy?.hostPort == HostPort(host: "proxy.example", port: 3128))
    }

    @Test(arguments: [
        ("https://api.push.apple.com", "production"), ("https://api.push.apple.com:2197", "production"),
        ("https://api.sandbox.push.apple.com", "sandbox"),
        ("https://api.development.push.apple.com", "sandbox"),
        ("https://127.0.0.1:8443", "127.0.0.1:8443"),
    ])
    func `tokens belong to the environment of the gateway`(gateway: String, environment: String) throws {
        let farm = try read(sample.replacing("https://127.0.0.1:8443", with: gateway))
        #expect(farm.app(named: "demo")?.gatewayEnvironment == environment)
    }

    @Test func `an empty text gives the defaults`() throws {
        for text in ["", "\n", "---\n", "# nothing\n", "{}", "apps:\n"] {
            let farm = try read(text)
            #expect(farm.redis == nil)
            #expect(farm.redisLocation(privateSocketExists: false).description == "redis://127.0.0.1:6379/0")
            #expect(
                farm.redisLocation(privateSocketExists: true).description == "unix:///srv/etc/var/redis.sock"
            )
            #expect(farm.workers == .fixed(2))
            #expect(farm.shards == 64)
            #expect(farm.jobRecordsKept == 1_000_000)
            #expect(farm.jobRecordLife == .seconds(259_200))
            #expect(farm.log.level == .info)
            #expect(farm.log.format == .text)
            #expect(throws: ConfigurationError.self) { try farm.requireApps() }
        }
    }

    @Test func `json is read like YAML`() throws {
        let json = """
            {\t"redis":"rediss://user:pa%3Ass@[::1]:6380/2", "workers":"auto" ,
            \t"log":{"level":"debug","format":"json"},
              "apps":{"demo":{"topic":"a.b","key":{"file":"\\/k.p8","id":"ABC123DEFG","team":"DEF123GHIJ"}}}}
            """
        let farm = try read(json)
        #expect(farm.redis?.description == "rediss://user:***@[::1]:6380/2")
        #expect(farm.redis?.password?.reveal() == "pa:ss")
        #expect(farm.workers == .auto)
        #expect(farm.log.level == .debug)
        #expect(farm.log.format == .json)
        #expect(farm.app(named: "demo")?.files == ["/k.p8"])
    }

    @Test func `flags override the environment and the environment overrides the file`() throws {
        let environment = [
            "PUSHFARM_WORKERS": "5", "PUSHFARM_SHARDS": "32", "PUSHFARM_APPS_DEMO_TOPIC": "env.topic",
            "PUSHFARM_APPS_DEMO_KEY_ID": "ENV1234567", "PATH": "/bin", "PUSHFARM_CONFIG": "x",
            "PUSHFARM_STATE_DIR": "run",
        ]
        let flags = [
            Override(key: "workers", text: "6", flag: "--workers"),
            try Override(assignment: "apps.demo.gateway=https://other:2197"),
        ]
        let farm = try read(sample, environment, flags)
        #expect(farm.workers == .fixed(6))
        #expect(farm.shards == 32)
        #expect(farm.stateDirectory == "/srv/run")
        let demo = try #require(farm.app(named: "demo"))
        #expect(demo.topic == "env.topic")
        #expect(demo.gateway == HostPort(host: "other", port: 2197))
        #expect(
            demo.credentials
                == .key(file: "/srv/etc/keys/AuthKey_ABC123DEFG.p8", id: "ENV1234567", team: "DEF123GHIJ"))
    }

    @Test func `the environment alone defines an app`() throws {
        let farm = try read(
            "",
            [
                "PUSHFARM_APPS_MY_APP_TOPIC": "a.b", "PUSHFARM_APPS_MY_APP_KEY_FILE": "k.p8",
                "PUSHFARM_APPS_MY_APP_KEY_ID": "ABC123DEFG", "PUSHFARM_APPS_MY_APP_KEY_TEAM": "DEF123GHIJ",
            ])
        #expect(farm.apps.map(\.name) == ["my_app"])
        #expect(farm.apps.first?.files == ["/srv/k.p8"])
    }

    @Test func `the variables of an app match any spelling of its name`() throws {
        let text = "apps: { My-App.x: { topic: a.b, key: { file: k, id: ABC123DEFG, team: DEF123GHIJ } } }"
        let farm = try read(text, ["PUSHFARM_APPS_MY_APP_X_TOPIC": "c.d"])
        #expect(farm.apps.map(\.topic) == ["c.d"])
        let twins =
            text.dropLast(2)
            + ", my_app_x: { topic: a.b, key: { file: k, id: ABC123DEFG, team: DEF123GHIJ } } }"
        let error = #expect(throws: ConfigurationError.self) {
            try read(String(twins), ["PUSHFARM_APPS_MY_APP_X_TOPIC": "c.d"])
        }
        #expect(error?.description.contains("My-App.x, my_app_x") == true)
    }

    @Test func `credentials of a higher layer replace those of the other kind`() throws {
        let farm = try read(
            sample,
            [
                "PUSHFARM_APPS_SHOP_KEY_FILE": "/k.p8", "PUSHFARM_APPS_SHOP_KEY_ID": "ABC123DEFG",
                "PUSHFARM_APPS_SHOP_KEY_TEAM": "DEF123GHIJ",
            ])
        #expect(
            farm.app(named: "shop")?.credentials == .key(file: "/k.p8", id: "ABC123DEFG", team: "DEF123GHIJ"))
    }

    @Test func `a reload finds the changes`() throws {
        let old = try read(sample)
        #expect(old.changes(to: try read(sample + "\n")) == ConfigurationChanges())
        var text = sample.replacing("com.example.demo", with: "com.example.new").replacing(
            "  shop:", with: "  mall:")
        text = text.replacing(
            "workers: 4", with: "workers: 3\njob_record_hours: 7\nalerts: { repeat: 60 }")
        let changes = old.changes(to: try read(text))
        #expect(changes.added == ["mall"])
        #expect(changes.removed == ["shop"])
        #expect(changes.changed == ["demo"])
        #expect(changes.workers == .fixed(3) && changes.hasNewAlerts)
        #expect(changes.needRestart == ["job_record_hours"])
    }

    @Test func `a coordinator needs the files and the password`() throws {
        let missing = #expect(throws: ConfigurationError.self) { try read(sample, purpose: .coordinator) }
        #expect(
            missing?.description
                == "etc/farm.yaml:13: apps.demo.key.file: /srv/etc/keys/AuthKey_ABC123DEFG.p8: no such file or directory"
        )
        let text = "apps: { a: { topic: t, certificate: { file: /etc/passwd, password_env: SECRET } } }"
        let unset = #expect(throws: ConfigurationError.self) { try read(text, purpose: .coordinator) }
        #expect(unset?.description.hasSuffix("there is no environment variable SECRET") == true)
        let farm = try read(text, ["SECRET": "hush"], purpose: .coordinator)
        guard case .certificate(_, _, let password) = farm.apps.first?.credentials else {
            Issue.record("no certificate")
            return
        }
        #expect(password?.reveal() == "hush")
        #expect(!"\(farm)".contains("hush"))
        var dumped = ""
        dump(farm, to: &dumped)
        #expect(!dumped.contains("hush"))
        #expect(!String(reflecting: farm).contains("hush"))
    }
}
