import FarmHarness
import Foundation
import Testing

/// The governor's connections and rates, measured in the gateways' ledgers.
/// The governor's times are shortened, so that the tests are short.
@Suite(.startsProcesses(limit: .seconds(240))) struct GovernorTests {
    private static let quick = [
        "scale: exponential 2", "min_sustain: 0.4", "poll_interval: 0.1", "settle_period: 0.4",
    ]

    @Test
    func `a distant gateway gets more connections, and idle connections are closed`()
        async throws
    {
        let farm = try await Farm(
            .init(
                workers: 1, faults: ["latency 100ms"], simulatorOptions: ["--streams", "10"],
                appLines: Self.quick))
        let jobs = Job.several("far", Tokens.make(5_000), size: 1000)
        try farm.push(jobs)
        try await farm.expectExactlyOnce(jobs)
        let lines = try farm.gateway.ledger().lines
        #expect(Self.mostConnections(lines) == 16)
        #expect(try farm.gateway.counter("refused_streams") == 0)
        // One connection can carry 100 pushes a second, and 16 connections can carry 1,600 pushes a second. The limit of 300
        // shows that several connections were used, even if the machine is slow.
        let begin = try #require(lines.first?.time)
        let bySecond = Dictionary(grouping: lines) { ($0.time - begin) / 1000 }.mapValues(\.count)
        #expect(try #require(bySecond[0]) <= 200)
        #expect(try #require(bySecond.values.max()) >= 300)
        try await eventually("the surplus is closed") {
            try farm.gateway.counter("open_connections") == 1
        }
        #expect(farm.coordinator.error.contains("streams were short"))
        #expect(farm.coordinator.error.contains("fewer are enough"))
    }

    /// The most simultaneous connections. A connection counts as open from its first to its last request.
    private static func mostConnections(_ lines: [Ledger.Line]) -> Int {
        let spans = Dictionary(grouping: lines, by: \.connection).values.map { lines in
            let times = lines.map(\.time)
            return (begin: times.min() ?? 0, end: times.max() ?? 0)
        }
        return spans.map { one in spans.count { $0.begin <= one.begin && one.begin <= $0.end } }.max()
            ?? 0
    }

    @Test func `the governor finds the rate above which a gateway sends 429, for each app`()
        async throws
    {
        let (folder, farm, other) = try await Self.twoGateways(
            ["rate 400", "latency 20ms"], ["--streams", "50"])
        defer { withExtendedLifetime((folder, other)) {} }
        let tokens = Tokens.make(6_000)
        let jobs = Job.several("ramp", tokens, size: 1000)
        try farm.push(jobs)
        try await eventually("sending is slower") { farm.coordinator.error.contains("send rate reduced") }
        let mine = Tokens.make(4_000, seed: 7)
        try farm.push([Job(id: "calm", tokens: mine)], to: "other")
        let calm = try await farm.finished("calm", app: "other")
        #expect(calm.delivered == mine.count)
        #expect(try other.ledger().lines.count == mine.count)
        #expect(!farm.says("send rate reduced", of: "other"))
        try await farm.gateway.requests(5_000)
        let early = try farm.gateway.ledger().lines.prefix(5_000)
        // Without the governor nine in ten responses would be 429.
        #expect(early.count { $0.status == 429 } < 1_500)
        try farm.gateway.control("rate off")
        try await farm.expectExactlyOnce(jobs)
        try await eventually("full rate again") { farm.says("send rate is no longer reduced", of: "demo") }
    }

    @Test func `a phase of 503 slows one app and does not affect the other`() async throws {
        let (folder, farm, other) = try await Self.twoGateways(["latency 20ms"], ["--streams", "50"])
        defer { withExtendedLifetime((folder, other)) {} }
        let jobs = Job.several("phase", Tokens.make(6_000), size: 1000)
        try farm.push(Array(jobs.prefix(1)))
        try await farm.gateway.requests(500)
        try farm.gateway.control("answer 503")
        // The farm gets the other jobs only now, so that there are pushes to send during the phase of 503 responses.
        try farm.push(Array(jobs.dropFirst()))
        try await eventually("sending is slower") { farm.says("send rate reduced", of: "demo") }
        let mine = Tokens.make(4_000, seed: 7)
        try farm.push([Job(id: "calm", tokens: mine)], to: "other")
        let calm = try await farm.finished("calm", app: "other")
        #expect(calm.delivered == mine.count)
        #expect(!farm.says("send rate reduced", of: "other"))
        try farm.gateway.control("answer off")
        try await farm.expectExactlyOnce(jobs)
        #expect(try farm.gateway.ledger().lines.count { $0.status == 503 } < 1_000)
    }

    @Test func `a worker obeys a lowered stream limit and uses a raised one`() async throws {
        let farm = try await Farm(
            .init(
                workers: 1, faults: ["latency 60ms"], simulatorOptions: ["--streams", "100"],
                appLines: ["max_conns: 1"]))
        let jobs = Job.several("drop", Tokens.make(8_000), size: 1000)
        try farm.push(jobs)
        try await farm.gateway.requests(1_000)
        try farm.gateway.control("streams 3")
        let before = try farm.gateway.requestCount()
        try await farm.gateway.requests(before + 200)
        try farm.gateway.control("streams 100")
        try await farm.expectExactlyOnce(jobs)
        #expect(try farm.gateway.counter("protocol_errors") == 0)
        #expect(try farm.gateway.counter("connections") == 1)
    }

    @Test func `max_rate holds in every window at the gateway`() async throws {
        let farm = try await Farm(
            .init(
                workers: 1,
                apps: { started, _ in
                    [
                        App(started, name: "demo", more: ["max_rate: 300"]),
                        App(started, name: "slow", more: ["max_rate: 2.5"]),
                    ]
                }))
        let (many, few) = (Tokens.make(1_500), Tokens.make(12, seed: 3))
        try farm.push([Job(id: "many", tokens: many)])
        try farm.push([Job(id: "few", tokens: few)], to: "slow")
        #expect(try await farm.finished("many").delivered == many.count)
        #expect(try await farm.finished("few", app: "slow").delivered == few.count)
        let lines = try farm.gateway.ledger().lines
        let slow = Set(few)
        // A burst may have as many pushes as the rate allows in a twentieth of a second.
        let fast = lines.filter { !slow.contains($0.token ?? "") }.map(\.time)
        Rate.expect(fast, atMost: 300, burst: 15)
        Rate.expect(lines.filter { slow.contains($0.token ?? "") }.map(\.time), atMost: 2.5, burst: 1)
    }

    @Test func `max_bandwidth holds in every window at the gateway`() async throws {
        let farm = try await Farm(.init(workers: 1, appLines: ["max_bandwidth: 800k"]))
        let text = String(repeating: "x", count: 2_000)
        let job = Job(
            id: "wide", tokens: Tokens.make(250), payload: #"{"aps":{"alert":"\#(text)"}}"#)
        try farm.push([job])
        #expect(try await farm.finished("wide").delivered == 250)
        let times = try farm.gateway.ledger().lines.map(\.time)
        // 100,000 bytes a second allow at most 50 payloads a second, with a burst of a twentieth of a second.
        Rate.expect(times, atMost: 50, burst: 2.5)
    }

    /// A farm with two apps: "demo", whose gateway has faults, and a second app with a gateway of its own.
    private static func twoGateways(
        _ faults: [String], _ options: [String]
    ) async throws -> (TestFolder, Farm, Gateway) {
        let folder = try TestFolder()
        let other = try await Gateway(in: folder.path, faults: ["latency 20ms"], options: options)
        let started = other.started
        let farm = try await Farm(
            .init(
                workers: 1, faults: faults, simulatorOptions: options,
                apps: { mine, _ in
                    [App(mine, more: Self.quick), App(started, name: "other", more: Self.quick)]
                }))
        return (folder, farm, other)
    }
}

extension Farm {
    /// Whether a log line about the app contains these words.
    fileprivate func says(_ words: String, of app: String) -> Bool {
        coordinator.error.split(separator: "\n").contains { $0.contains(words) && $0.contains("app=\(app)") }
    }
}
