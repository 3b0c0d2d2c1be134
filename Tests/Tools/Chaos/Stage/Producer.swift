import ChaosChecker
package import EventLoop
import FarmHarness
import RandomTesting
import RedisProtocol

/// Pushes jobs one by one, as any producer does, and records what it knows of each.
@Loop package final class Producer {
    let name: String
    let app: String
    private(set) var notes: [ProducerNote] = []
    /// Jobs that Redis refused.
    private(set) var refusals = 0
    private let path: String
    private var redis: PlainRedis?

    init(_ name: String, app: String, redis path: String) {
        (self.name, self.app, self.path) = (name, app, path)
    }

    var jobs: [String] { notes.compactMap { if case .attempt = $0.kind { $0.job } else { nil } } }

    /// - Returns: accepted, refused, or without a timely reply, which may mean either.
    @discardableResult
    func push(_ job: Job, _ promise: ProducerNote.Promise) async -> ProducerNote.Kind {
        note(job.id, .attempt(promise))
        do {
            if redis == nil { redis = try await PlainRedis(path) }
        } catch {
            // Nothing was sent.
            note(job.id, .refused)
            return .refused
        }
        let answer = try? await redis?.call(["RPUSH", "pushfarm:\(app)", job.text])
        if answer == nil { redis = nil }
        if answer?.error != nil { refusals += 1 }
        let kind: ProducerNote.Kind = answer.map { $0.error == nil ? .accepted : .refused } ?? .unknown
        note(job.id, kind)
        return kind
    }

    /// Drops its records, in runs that are too long to keep them.
    func forget() { notes = [] }

    private func note(_ job: String, _ kind: ProducerNote.Kind) {
        notes.append(ProducerNote(at: WallTime.now, producer: name, job: job, kind: kind))
    }
}
