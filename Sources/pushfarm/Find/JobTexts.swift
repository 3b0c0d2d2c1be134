import EventLoop
import PushModel
import StoreProtocol

/// Reads jobs that are not split, about a megabyte at a time, from the end of their list: jobs that the intake takes from its
/// start meanwhile hide no others.
@Loop struct JobTexts {
    private let client: FarmClient
    private static let bytes = 1 << 20

    init(_ client: FarmClient) { self.client = client }

    /// - Parameter body: answers whether to go on.
    func each(
        _ list: ReadListEnd.List, of app: String, _ body: ([UInt8]) -> Bool
    ) async throws(CommandFailure) {
        var (skipped, count) = (0, 1)
        while true {
            let jobs = try await client.call(ReadListEnd(list, skipping: skipped, count: count), app)
            for job in jobs { guard body(job) else { return } }
            guard jobs.count == count else { return }
            skipped += count
            let bytes = jobs.reduce(0) { $0 + $1.count }
            if bytes < Self.bytes / 4 {
                count = min(count * 2, 512)
            } else if bytes > Self.bytes {
                count = max(1, count / 2)
            }
        }
    }

    /// Nil when it would be refused.
    func parse(_ job: [UInt8], app: String) -> ParsedJob? {
        try? JobParser.parse(
            job, app: app, topic: client.configuration.app(named: app)?.topic ?? "",
            now: client.redis.clock.seconds,
            limits: JobLimits(tokens: 1_000_000, longestWait: JobLimits.intakeWait))
    }

    func contains(
        _ list: ReadListEnd.List, job id: String, app: String
    ) async throws(CommandFailure) -> Bool {
        var isThere = false
        try await each(list, of: app) { job in
            isThere = parse(job, app: app)?.id == id
            return !isThere
        }
        return isThere
    }
}
