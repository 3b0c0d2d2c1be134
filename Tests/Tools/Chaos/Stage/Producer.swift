import ChaosChecker
package import EventLoop
import FarmHarness
import RandomTesting
import RedisProtocol

/// Pushes jobs one by one, as any producer does, and records the result of each push to Redis.
@Loop package final class Producer {
    let name: String
    let app: String
    private(set) var notes: [ProducerNote] = []
    /// The number of jobs that Redis refused.
    private(set) var refusals = 0
    private let path: String
    private var redis: PlainRedis?

    init(_ name: String, app: String, redis path: String) {
        (self.name, self.app, self.path) = (name, app, path)
    }

    var jobs: [String] { notes.compactMap { if case .attempt = $0.kind { $0.job } else { nil } } }

    /// - Returns: whether Redis accepted or refused the job, or did not reply in time. A job without a reply may be in Redis.
    @discardableResult
    func push(_ job: Job, _ promise: ProducerNote.Promise) async -> ProducerNote.Kind {
        note(job.id, .attempt(promise))
        do {
            if redis == nil { redis = try await PlainRedis(path) }
        } catch {
            // The command was not sent, so the job is not in the farm.
            note(job.id, .refused)
            return .refused
        }
        let reply = try? await redis?.call(["RPUSH", "pushfarm:\(app)", job.text])
        if reply == nil { redis = nil }
        if reply?.error != nil { refusals += 1 }
        let kind: ProducerNote.Kind = reply.map { $0.error == nil ? .accepted : .refused } ?? .unknown
        note(job.id, kind)
        return kind
    }

    /// Drops the records, in runs that are too long to keep all records.
    func forget() { notes = [] }

    private func note(_ job: String, _ kind: ProducerNote.Kind) {
        notes.append(ProducerNote(at: WallTime.now, producer: name, job: job, kind: kind))
    }
}
