import FarmHarness
import Foundation
import RedisProtocol

/// A producer with a fixed rate of tokens. Every 0.05 s, the producer pushes a job. Each token is used once.
actor DrillLoad {
    private let socket: String
    private let rate: Int
    /// The number of tokens used so far.
    private(set) var next: UInt64 = 0
    /// The ids of the jobs that were pushed so far.
    private(set) var jobs: [String] = []
    private var isRunning = true

    init(socket: String, rate: Int) { (self.socket, self.rate) = (socket, rate) }

    func stop() { isRunning = false }

    /// Pushes jobs until ``stop()`` is called. After a delay, pushes the missed jobs without a pause.
    func run() async throws {
        let client = try BlockingRedisClient(socket)
        let size = max(1, rate / 20)
        let start = ContinuousClock.now
        var count = 0
        while isRunning {
            let tokens = (0..<UInt64(size)).map { DrillTokens.hex(next + $0) }
            let job = Job(id: "drill-\(next)", tokens: tokens)
            try client.run("RPUSH", "pushfarm:demo", job.text)
            next += UInt64(size)
            jobs.append(job.id)
            count += 1
            let due = start + .milliseconds(50 * count)
            if due > .now { try await Task.sleep(until: due, clock: .continuous) }
        }
    }
}
