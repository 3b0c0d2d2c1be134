import Testing

@testable import FarmConfiguration

/// Checks the settings that limit the use of a gateway: connections, rates and dialling.
struct GatewayUseTests {
    private func use(_ lines: String..., gateway: String = "https://127.0.0.1:8443") throws
        -> AppConfiguration
    {
        let isBinary = gateway.hasPrefix("tls:")
        let credentials =
            isBinary
            ? "certificate: { file: /etc/push.p12 }"
            : "key: { file: /etc/a.p8, id: ABC123DEFG, team: DEF123GHIJ }"
        let text =
            "apps:\n  demo:\n    topic: a.b\n    gateway: \(gateway)\n    \(credentials)\n"
            + lines.map { "    \($0)\n" }.joined()
        return try #require(try read(text).app(named: "demo"))
    }

    @Test func `every setting is read`() throws {
        let app = try use(
            "min_conns: 2", "max_conns: 5", "max_concurrent_streams: 100", "max_rate: 0.5",
            "max_bandwidth: 10M",
            "scale: exponential 1.5", "min_sustain: 3", "poll_interval: 0.1", "settle_period: 1.5",
            "dial_timeout: 7", "min_dial_back_off: 2", "max_dial_back_off: 60", "dial_back_off_jitter: 10%",
            "keep_alive: 36000")
        var wanted = GatewayUse()
        (wanted.minConnections, wanted.maxConnections, wanted.maxStreams) = (2, 5, 100)
        (wanted.maxRate, wanted.maxBandwidth, wanted.scale) = (0.5, 10_000_000, .exponential(1.5))
        wanted.minSustain = .seconds(3)
        (wanted.pollInterval, wanted.settlePeriod) = (.milliseconds(100), .milliseconds(1500))
        (wanted.dialTimeout, wanted.minDialBackOff) = (.seconds(7), .seconds(2))
        (wanted.maxDialBackOff, wanted.dialBackOffJitter) = (.seconds(60), 0.1)
        wanted.keepAlive = .seconds(36_000)
        #expect(app.use == wanted && app.connections(workers: 9) == 5)
    }

    @Test(arguments: [
        ("scale: incremental", GatewayUse.Scale.incremental(1)), ("scale: incremental 3", .incremental(3)),
        ("scale: exponential", .exponential(2)), ("scale: constant", .constant),
        ("scale: automatic", .automatic),
    ]) func scales(line: String, scale: GatewayUse.Scale) throws {
        #expect(try use(line).use.scale == scale)
    }

    @Test func `connections sets both the minimum and the maximum`() throws {
        let app = try use("connections: 3")
        #expect(
            (app.use.minConnections, app.use.maxConnections) == (3, 3) && app.connections(workers: 2) == 3)
        let plain = try use()
        #expect((plain.use.minConnections, plain.use.maxConnections) == (1, 16) && plain.connections == nil)
        // The configured minimum is above the default maximum, so the farm raises the maximum to the minimum.
        let many = try use("min_conns: 20").use
        #expect((many.minConnections, many.maxConnections) == (20, 20))
    }

    @Test func `a binary gateway has its own default number and rates`() throws {
        let plain = try use(gateway: "tls://127.0.0.1:2195")
        #expect(plain.connections(workers: 2) == 28 && plain.use.minConnections == 1)
        let tuned = try use("max_conns: 4", "max_rate: 10", gateway: "tls://127.0.0.1:2195")
        #expect(tuned.connections(workers: 2) == 4 && tuned.use.maxRate == 10)
        let fixed = try use("connections: 4", gateway: "tls://127.0.0.1:2195")
        #expect(fixed.connections(workers: 2) == 4 && fixed.use.minConnections == 1)
    }

    @Test func `a budget applies to the whole farm`() throws {
        let app = try use("budget: { max_rate: 2.5, max_bandwidth: 10M, max_conns: 100 }", "max_rate: 7")
        var wanted = GatewayBudget()
        (wanted.maxRate, wanted.maxBandwidth, wanted.maxConnections) = (2.5, 10_000_000, 100)
        #expect(app.budget == wanted && app.use.maxRate == 7)
        #expect(try use().budget == GatewayBudget())
        #expect(
            try use("budget: { max_conns: 1 }", gateway: "tls://127.0.0.1:2195").budget.maxConnections == 1)
    }

    @Test func `keep_alive may be off`() throws {
        #expect(try use("keep_alive: 0").use.keepAlive == nil)
    }

    @Test(arguments: [
        (
            ["connections: 2", "min_conns: 1"],
            "connections: there is min_conns too; connections is short for min_conns and max_conns"
        ),
        (
            ["connections: 2", "max_conns: 4"],
            "connections: there is max_conns too; connections is short for min_conns and max_conns"
        ),
        (["min_conns: 9", "max_conns: 3"], "min_conns: is 9, and max_conns is 3"),
        (["max_conns: 65"], "max_conns: expected a whole number from 1 to 64, found 65"),
        (
            ["max_concurrent_streams: 0"],
            "max_concurrent_streams: expected a whole number from 1 to 2000, found 0"
        ),
        (["max_rate: 0"], "max_rate: expected pushes a second, 0.001 to 10000000, found \"0\""),
        (["max_rate: -1"], "max_rate: expected pushes a second, 0.001 to 10000000, found \"-1\""),
        (["max_rate: 1e3"], "max_rate: expected pushes a second, 0.001 to 10000000, found \"1e3\""),
        (
            ["max_bandwidth: 10T"],
            "max_bandwidth: expected bits a second from 1k to 1000G, such as 500k, 10M or 1G, found \"10T\""
        ),
        (
            ["scale: linear"],
            "scale: expected automatic, incremental N, exponential F with F above 1, or constant, found \"linear\""
        ),
        (
            ["scale: exponential 1"],
            "scale: expected automatic, incremental N, exponential F with F above 1, or constant, found \"exponential 1\""
        ),
        (
            ["scale: incremental 1 2"],
            "scale: expected automatic, incremental N, exponential F with F above 1, or constant, found \"incremental 1 2\""
        ),
        (
            ["scale: constant 1"],
            "scale: expected automatic, incremental N, exponential F with F above 1, or constant, found \"constant 1\""
        ),
        (["poll_interval: 0.01"], "poll_interval: expected at least 0.02 seconds"),
        (
            ["poll_interval: 3"],
            "poll_interval: is longer than min_sustain, which must be several times as long"
        ),
        (
            ["min_dial_back_off: 20", "max_dial_back_off: 10"],
            "min_dial_back_off: min_dial_back_off is longer than max_dial_back_off"
        ),
        (["max_dial_back_off: 0.1"], "max_dial_back_off: min_dial_back_off is longer than max_dial_back_off"),
        (
            ["dial_back_off_jitter: 2"],
            "dial_back_off_jitter: expected the random share of a pause, from 0 to 1 or from 0% to 100%"
        ),
        (
            ["keep_alive: 5"],
            "keep_alive: expected at least 10 seconds, or 0 for never: gateways end connections that ask too often"
        ),
        (
            ["budget: { max_rate: 0 }"],
            "budget.max_rate: expected pushes a second, 0.001 to 10000000, found \"0\""
        ),
        (["budget: { max_rates: 5 }"], "budget.max_rates: unknown key; did you mean max_rate?"),
        (["max_rates: 5"], "max_rates: unknown key; did you mean max_rate?"),
        (["min_con: 5"], "min_con: unknown key; did you mean min_conns?"),
    ]) func `an error names its key`(lines: [String], message: String) throws {
        let error = try #require(throws: ConfigurationError.self) {
            switch lines.count {
            case 1: try use(lines[0])
            default: try use(lines[0], lines[1])
            }
        }
        #expect(error.description.hasSuffix("apps.demo." + message), "\(error)")
        #expect(error.source == .file("etc/farm.yaml", line: lines.count == 1 ? 6 : error.source?.line ?? 0))
    }

    @Test(arguments: ["keep_alive: 60", "max_concurrent_streams: 10"])
    func `a setting of HTTP/2 is refused for a binary gateway`(line: String) throws {
        let error = try #require(throws: ConfigurationError.self) {
            try use(line, gateway: "tls://127.0.0.1:2195")
        }
        #expect(
            error.description.hasSuffix("belongs to HTTP/2, and the gateway is tls://host:port"), "\(error)")
    }
}

extension ConfigurationError.Source {
    fileprivate var line: Int? {
        if case .file(_, let line) = self { line } else { nil }
    }
}
