import FarmHarness
import Foundation
import Testing

/// Pushes jobs for the same tokens repeatedly. Afterwards the gateway's ledger shows whether pushes were lost, duplicated or sent
/// in a wrong order.
final class Load {
    private let farm: Farm
    private let app: String
    private let producer: Producer
    private let pushing: Task<Void, Never>
    private let tokens: [String]

    /// Starts pushing.
    /// - Parameter seed: the seed of the tokens.
    init(
        _ farm: Farm, app: String = "demo", devices: Int = 400, seed: UInt64 = 1,
        every pause: Duration = .milliseconds(400)
    ) throws {
        (self.farm, self.app) = (farm, app)
        tokens = Tokens.make(devices, seed: seed)
        let producer = Producer(socket: farm.redis.socket, app: app, tokens: tokens)
        self.producer = producer
        pushing = Task { await producer.run(every: pause) }
    }

    deinit { pushing.cancel() }

    /// Waits until `rounds` more rounds are pushed, and until the gateway has got at least half as many further requests as these
    /// rounds have pushes.
    func more(_ rounds: Int) async throws {
        let (before, arrived) = (await producer.rounds, try farm.gateway.requestCount())
        try await eventually("\(rounds) rounds more") { await producer.rounds >= before + rounds }
        try await farm.gateway.requests(arrived + rounds * tokens.count / 2)
    }

    /// The results of all pushes of a load.
    private struct End {
        let jobs: [Job]
        let totals: Totals
        /// The rounds that arrived for each token, in order of arrival.
        let came: [String: [String]]
        let requests: Int
    }

    private func stop() async {
        pushing.cancel()
        await pushing.value
    }

    /// The results of loads on one farm. The ledger is long, so it is read once, after all jobs are finished.
    private static func ends(of loads: [Load]) async throws -> [End] {
        for load in loads { await load.stop() }
        var finished: [(jobs: [Job], totals: Totals)] = []
        for load in loads {
            let jobs = await load.producer.jobs
            finished.append((jobs, try await load.farm.finished(jobs, app: load.app)))
        }
        guard let ledger = try loads.first?.farm.gateway.ledger() else { return [] }
        return zip(loads, finished).map { load, finished in
            let ours = Set(load.tokens)
            let lines = ledger.lines.filter { line in line.token.map(ours.contains) ?? true }
            let came: [String: [String]] = lines.reduce(into: [:]) { came, line in
                guard line.status == 200, let token = line.token else { return }
                came[token, default: []].append(line.bodySha256 ?? "")
            }
            return End(jobs: finished.jobs, totals: finished.totals, came: came, requests: lines.count)
        }
    }

    /// Expects that the farm accepted every round once and in order, and that every token got every round once in the same order.
    func expectExactlyOnce(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await Self.expectExactlyOnce([self], sourceLocation: sourceLocation)
    }

    /// Expects for each of several loads on one farm that every push arrived once and in order.
    static func expectExactlyOnce(_ loads: [Load], sourceLocation: SourceLocation = #_sourceLocation)
        async throws
    {
        for (load, end) in zip(loads, try await ends(of: loads)) {
            let (jobs, totals, came) = (end.jobs, end.totals, end.came)
            #expect(totals.delivered == jobs.count * load.tokens.count, sourceLocation: sourceLocation)
            #expect(
                try load.farm.accepted(app: load.app) == jobs.map(\.id), sourceLocation: sourceLocation)
            #expect(
                totals.maybeDuplicated == 0 && end.requests == totals.delivered,
                sourceLocation: sourceLocation)
            #expect(came.count == load.tokens.count, sourceLocation: sourceLocation)
            // All tokens got the same rounds in the same order.
            #expect(Set(came.values).count == 1, sourceLocation: sourceLocation)
            #expect(came.values.first.map { Set($0).count } == jobs.count, sourceLocation: sourceLocation)
        }
    }

    /// Expects that no push is lost. Duplicates may not exceed the windows of the lost workers, nor the farm's
    /// `maybe_duplicated`.
    func expectBounded(workers: Int, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let end = try #require(try await Self.ends(of: [self]).first)
        let (jobs, totals, came) = (end.jobs, end.totals, end.came)
        #expect(totals.delivered == jobs.count * tokens.count, sourceLocation: sourceLocation)
        let reached = came.values.reduce(0) { $0 + Set($1).count }
        let doubles = came.values.reduce(0) { $0 + $1.count - Set($1).count }
        #expect(reached == jobs.count * tokens.count, "lost", sourceLocation: sourceLocation)
        #expect(doubles <= totals.maybeDuplicated, sourceLocation: sourceLocation)
        #expect(totals.maybeDuplicated <= 2_000 * workers, sourceLocation: sourceLocation)
    }
}

/// A producer with its own connection.
private actor Producer {
    private let socket: String
    private let app: String
    private let tokens: [String]
    private(set) var jobs: [Job] = []

    init(socket: String, app: String, tokens: [String]) {
        (self.socket, self.app, self.tokens) = (socket, app, tokens)
    }

    var rounds: Int { jobs.count }

    /// Pushes jobs until the task is cancelled. Repeats an RPUSH whose reply was lost.
    /// The job's id makes this safe: the farm refuses the second job as a duplicate.
    func run(every pause: Duration) async {
        var client: BlockingRedisClient?
        while !Task.isCancelled {
            let number = jobs.count
            let job = Job(
                id: "round-\(number)", tokens: tokens, payload: #"{"aps":{"alert":"\#(number)"}}"#)
            do {
                if client == nil { client = try BlockingRedisClient(socket) }
                try client?.run("RPUSH", "pushfarm:\(app)", job.text)
                jobs.append(job)
            } catch { client = nil }
            try? await Task.sleep(for: pause)
        }
    }
}
