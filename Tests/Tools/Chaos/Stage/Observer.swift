import ChaosChecker
import EventLoop
import FarmHarness
import RedisProtocol

/// Reads all job records once a second, with HGETALL.
@Loop final class Observer {
    private(set) var notes: [JobRecordsNote] = []
    private let app: String
    private let path: String
    private let jobs: @Loop () -> [String]
    private var redis: PlainRedis?
    private let turnstile = TaskLock()
    private var task: Task<Void, Never>?

    init(app: String, redis path: String, jobs: @escaping @Loop () -> [String]) {
        (self.app, self.path, self.jobs) = (app, path, jobs)
    }

    func start() {
        task = Loop.task {
            while !Task.isCancelled {
                await self.observe()
                _ = try? await Loop.sleep(for: .seconds(1))
            }
        }
    }

    /// Reads the job records a last time, and stops.
    func stop() async {
        task?.cancel()
        await task?.value
        await observe()
    }

    /// The job records of all submitted jobs; nil when Redis does not reply.
    @discardableResult
    func observe() async -> [String: [String: String]]? {
        await turnstile.pass {
            let at = WallTime.now
            let jobRecords = try? await read()
            if jobRecords == nil { redis = nil }
            notes.append(JobRecordsNote(number: notes.count + 1, at: at, jobRecords: jobRecords))
            return jobRecords
        }
    }

    private func read() async throws -> [String: [String: String]] {
        if redis == nil { redis = try await PlainRedis(path) }
        let jobs = jobs()
        let replies = try await redis?.call(
            jobs.map { ["HGETALL", "{pushfarm:\(app)}:job:\($0)"] }, within: .seconds(5))
        var jobRecords: [String: [String: String]] = [:]
        for (job, reply) in zip(jobs, replies ?? []) {
            if reply.error != nil { throw PlainRedis.Failure.lost }
            let fields = reply.fields
            if !fields.isEmpty { jobRecords[job] = fields }
        }
        return jobRecords
    }
}
