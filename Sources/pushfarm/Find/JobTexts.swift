import EventLoop
import PushModel
import RedisProtocol

/// Goes through jobs that are not split, about a megabyte at a time, from the end of their list: what is taken from its
/// beginning meanwhile leaves none out.
@Loop struct JobTexts {
    private let client: FarmClient
    private static let bytes = 1 << 20

    init(_ client: FarmClient) { self.client = client }

    /// - Parameter body: answers whether to go on.
    func each(_ list: String, _ body: ([UInt8]) -> Bool) async throws(CommandFailure) {
        var (end, count) = (-1, 1)
        while true {
            let command = RESPCommand("LRANGE", list, "\(end - count + 1)", "\(end)")
            let jobs: [RESPValue]
            do { jobs = try await client.redis.call(command).array ?? [] } catch {
                throw client.failure(.redis(error))
            }
            for job in jobs.compactMap(\.bytes) { guard body(job) else { return } }
            guard jobs.count == count else { return }
            end -= count
            let bytes = jobs.reduce(0) { $0 + ($1.bytes?.count ?? 0) }
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

    func contains(_ list: String, job id: String, app: String) async throws(CommandFailure) -> Bool {
        var isThere = false
        try await each(list) { job in
            isThere = parse(job, app: app)?.id == id
            return !isThere
        }
        return isThere
    }
}
