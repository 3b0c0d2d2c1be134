import PushModel
import RandomTesting
import RedisClient
import StoreProtocol
import Testing

@testable import Intake
@testable import JobSplitting

/// Wraps a noncopyable queue in a class, so that `#expect` can use it.
private final class Queue {
    var value: IntakeQueue
    init(_ value: IntakeQueue) { self.value = value }
    var isEmpty: Bool { value.isEmpty }
    var openTokens: Int { value.openTokens }
    func next() -> IntakeStep? { value.next() }
    func done() { value.done() }
    func refuseDuplicate(_ id: String) -> Bool { value.refuseDuplicate(id) }
}

struct IntakeQueueTests {
    static let narrow = StepLimits(
        tokens: 64, jobs: 5, batches: 9, events: 3, bytes: 6000, positions: 8, tokensBeforeEarlyEnd: 32)

    private func queue(_ jobs: [JobText], shards: Int = 4, limits: StepLimits = StepLimits()) throws
        -> Queue
    {
        var queue = IntakeQueue(shards: shards, limits: limits)
        for job in jobs { queue.append(try job.parsed(), id: job.id ?? "made") }
        return Queue(queue)
    }

    private func split(_ step: IntakeStep?) throws -> IntakeStep.Plan {
        guard case .split(let plan) = step else {
            throw JobError(field: "", position: 0, reason: "not a split")
        }
        return plan
    }

    @Test func `jobs that are queued together share batches`() throws {
        let jobs = (0..<20).map {
            JobText(id: "j\($0)", tokens: [JobText.token($0), JobText.token(100 + $0)])
        }
        let queue = try queue(jobs, shards: 2)
        let plan = try split(queue.next())
        #expect(plan.dropped == 20)
        #expect(plan.head == nil)
        #expect(plan.jobs.map(\.id) == jobs.map(\.id))
        #expect(plan.batches.count == 2)
        #expect(plan.batches.map(\.tokens).reduce(0, +) == 40)
        queue.done()
        #expect(queue.isEmpty && queue.openTokens == 0)
        #expect(queue.next() == nil)
    }

    @Test func `lanes and times do not share batches`() throws {
        let token = [JobText.token(1)]
        let later = JobText.now + 60
        let queue = try queue(
            [
                JobText(id: "a", tokens: token), JobText(id: "b", tokens: token, fields: #""lane":"bulk","#),
                JobText(id: "c", tokens: token, fields: #""deliver_at":\#(later),"#),
                JobText(id: "d", tokens: token),
            ], shards: 1)
        let plan = try split(queue.next())
        #expect(plan.batches.map(\.tokens) == [2, 1, 1])
        #expect(plan.batches.map(\.lane) == [.high, .bulk, .high])
        #expect(plan.batches.map(\.due) == [0, 0, later * 1000])
        #expect(Set(plan.batches.filter { $0.due == 0 }.map(\.shard)) == [0])
    }

    @Test func `a job larger than a step continues at the head`() throws {
        let queue = try queue(
            [JobText(id: "big", tokens: (0..<150).map { JobText.token($0) })], shards: 1, limits: Self.narrow)
        var offsets: [Int] = []
        while let step = queue.next() {
            let plan = try split(step)
            #expect(plan.jobs.map(\.opens) == [offsets.isEmpty])
            #expect(plan.jobs.map(\.accepted) == [150])
            #expect((plan.head == nil) == (plan.dropped == 1))
            offsets.append(plan.head?.offset ?? 150)
            queue.done()
        }
        #expect(offsets == [32, 64, 96, 150])
    }

    @Test func `a push costs its token and a byte and the bytes limit a step`() throws {
        func pushes(bytes: Int) throws -> Int {
            let job = JobText(id: "a", tokens: (0..<500).map { JobText.token($0) })
            let queue = try queue([job], shards: 1, limits: StepLimits(bytes: bytes, positions: 1_000))
            return try split(queue.next()).batches.reduce(0) { $0 + $1.tokens }
        }
        let few = try pushes(bytes: 1_000)
        #expect(few > 10)
        #expect(try pushes(bytes: 1_000 + 33 * 300) == few + 300)
    }

    @Test func `a push that is larger than a step has its own step`() throws {
        let payload = #"{"aps":{"alert":"\#(String(repeating: "x", count: 500))"}}"#
        let job = JobText(id: "a", tokens: [JobText.token(1), JobText.token(2)], payload: payload)
        let queue = try queue([job], shards: 1, limits: StepLimits(bytes: 100))
        for _ in 0..<2 {
            #expect(try split(queue.next()).batches.map(\.tokens) == [1])
            queue.done()
        }
        #expect(queue.isEmpty)
    }

    @Test func `a repeated id waits for the step of the first job and is refused if Redis knows it`()
        throws
    {
        let token = [JobText.token(1)]
        let queue = try queue(
            [
                JobText(id: "a", tokens: token), JobText(id: "b", tokens: token),
                JobText(id: "a", tokens: token),
            ])
        #expect(try split(queue.next()).jobs.map(\.id) == ["a", "b"])
        queue.done()
        #expect(try split(queue.next()).jobs.map(\.id) == ["a"])
        #expect(queue.refuseDuplicate("a"))
        guard case .refuse(let refusal) = queue.next() else {
            throw JobError(field: "", position: 0, reason: "")
        }
        #expect(refusal.job == "a" && refusal.field == "id")
        #expect(refusal.reason.contains("24 hours"))
        queue.done()
        #expect(queue.isEmpty && queue.openTokens == 0)
    }

    @Test func `jobs before a duplicate are split first`() throws {
        let token = [JobText.token(1)]
        let queue = try queue(["a", "b", "c"].map { JobText(id: $0, tokens: token) })
        _ = queue.next()
        #expect(queue.refuseDuplicate("b"))
        #expect(!queue.refuseDuplicate("nobody"))
        #expect(try split(queue.next()).jobs.map(\.id) == ["a"])
        queue.done()
        guard case .refuse = queue.next() else { throw JobError(field: "", position: 0, reason: "") }
        queue.done()
        #expect(try split(queue.next()).jobs.map(\.id) == ["c"])
    }

    @Test func `malformed tokens are reported in several steps if there are many`() throws {
        let job = JobText(id: "m", tokens: (0..<8).map { "zz\($0)" })
        let queue = try queue([job], limits: Self.narrow)
        var events: [Int] = []
        while let step = queue.next() {
            let plan = try split(step)
            #expect(plan.jobs[0].submitted == 8 && plan.jobs[0].accepted == 0 && plan.jobs[0].malformed == 8)
            events.append(plan.jobs[0].events.count)
            queue.done()
        }
        #expect(events == [3, 3, 2])
    }

    @Test func `a job that continues after a crash repeats no batch and reports each malformed token`() throws
    {
        let tokens = ["x", JobText.token(1), "y", JobText.token(2), "z"]
        let job = try JobText(id: "m", tokens: tokens).parsed()
        let expected = [(0, 0, 0), (1, 1, 1), (2, 2, 2), (9, 2, 2)]
        for (offset, accepted, malformed) in expected {
            let progress = job.progress(accepted: offset)
            #expect(progress == .init(isOpened: true, accepted: accepted, malformed: malformed))
        }
    }

    @Test func `names for unnamed jobs are 26 plain characters and all different`() {
        var random = SplitMix(seed: 5)
        let names = (0..<1000).map { _ in JobID.random(using: &random) }
        #expect(Set(names).count == 1000)
        #expect(names.allSatisfy { $0.utf8.count == 26 && $0 == $0.lowercased() })
    }
}
