import Testing

@testable import FarmConfiguration

/// Checks the `metrics` and `alerts` settings.
struct MonitoringSettingsTests {
    private static func read(_ text: String) throws -> Configuration {
        try Configuration.read(text, file: "farm.yaml")
    }

    @Test(arguments: [
        ("127.0.0.1:9750", MetricsAddress.tcp(host: "127.0.0.1", port: 9750)),
        ("127.0.0.1:0", .tcp(host: "127.0.0.1", port: 0)), ("\"[::1]:9750\"", .tcp(host: "::1", port: 9750)),
        ("unix:///run/pushfarm/metrics.sock", .unix("/run/pushfarm/metrics.sock")),
    ])
    func `metrics are served at a port or at a socket`(text: String, address: MetricsAddress) throws {
        #expect(try Self.read("metrics: { listen: \(text) }").metrics == address)
        #expect(try Self.read("workers: 1").metrics == nil)
    }

    @Test(arguments: ["here", "9750", "http://127.0.0.1:9750", "unix://metrics.sock", "127.0.0.1:99999"])
    func `an invalid address is an error that names the key`(text: String) {
        let error = #expect(throws: ConfigurationError.self) {
            try Self.read("metrics: { listen: \"\(text)\" }")
        }
        #expect("\(error!)".contains("farm.yaml:1: metrics.listen: expected host:port"))
    }

    @Test func `alert limits have defaults and may be set`() throws {
        #expect(try Self.read("workers: 1").alerts == AlertSettings())
        let alerts = try Self.read(
            "alerts: { backlog_age: 60, error_share: 20, redis_memory: 90, refused_jobs: 7, repeat: 600, command: \"mail -s x\" }"
        ).alerts
        #expect(alerts.backlogAge == 60 && alerts.errorShare == 20 && alerts.redisMemory == 90)
        #expect(alerts.refusedJobs == 7)
        #expect(alerts.again == .seconds(600) && alerts.command == "mail -s x" && alerts.webhook == nil)
    }

    @Test(arguments: [
        ("backlog_age: 0", "alerts.backlog_age: expected a whole number from 1"),
        ("error_share: 101", "alerts.error_share: expected a whole number from 1 to 100"),
        ("redis_memory: x", "alerts.redis_memory: expected a whole number"),
        ("refused_jobs: 0", "alerts.refused_jobs: expected a whole number from 1"),
        ("repeat: 1", "alerts.repeat: expected a whole number from 10"),
        ("command: \"\"", "alerts.command: is empty"),
        ("webhook: example.com", "alerts.webhook: expected http://host"),
        ("webhook: ftp://example.com/x", "alerts.webhook: expected http://host"),
        (
            "webhook: http://u:p@example.com/x",
            "alerts.webhook: a user or password in the address is not supported"
        ),
        ("webhok: x", "alerts.webhok: unknown key; did you mean webhook?"),
    ])
    func `an invalid alert limit is an error that names it`(line: String, words: String) {
        let error = #expect(throws: ConfigurationError.self) { try Self.read("alerts: { \(line) }") }
        #expect("\(error!)".contains("farm.yaml:1: \(words)"), "\(error!)")
    }

    @Test func `the path of a webhook is never shown`() throws {
        let secret = "hush-4711"
        let webhook = try #require(
            try Self.read("alerts: { webhook: \"https://hooks.example/services/\(secret)?key=\(secret)\" }")
                .alerts
                .webhook)
        #expect(webhook.usesTLS && webhook.host == "hooks.example")
        #expect(webhook.target.reveal() == "/services/\(secret)?key=\(secret)")
        var dumped = ""
        dump(webhook, to: &dumped)
        for text in ["\(webhook)", dumped, String(reflecting: webhook)] { #expect(!text.contains(secret)) }
        // The text of an error must not contain the path either.
        let error = #expect(throws: ConfigurationError.self) {
            try Self.read("alerts: { webhook: \"https://hooks example/\(secret)\" }")
        }
        #expect(!"\(error!)".contains(secret))
    }
}
