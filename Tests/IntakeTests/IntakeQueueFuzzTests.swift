import PushModel
import RandomTesting
import StoreProtocol
import Testing

@testable import Intake
@testable import JobSplitting

struct IntakeQueueFuzzTests {
    /// A push with the properties that the test compares between the job and the batches.
    struct PushPosition: Hashable {
        var job: String
        var token: [UInt8]
        var payload: [UInt8]
        var collapseID: String?
    }

    /// The collapse id of the push with this index in a job with values.
    private static func collapseID(_ index: Int) -> String? { index % 5 < 2 ? "c\(index % 2)" : nil }

    /// Changes the job so that it has a template, and values for each push. Some pushes have a collapse id.
    private static func addValues(to job: inout JobText) {
        job.payload = #"{"aps":{"alert":"{{n|}} {{m|you}}"},"job":"\#(job.id!)"}"#
        job.personal = job.tokens.indices.map { index in
            #""values":{"n":\#(index)}"# + (collapseID(index).map { #","collapse_id":"\#($0)""# } ?? "")
        }
    }

    /// Returns the job's accepted push with this number, as the worker must send it.
    private static func pushPosition(_ number: Int, of text: JobText, _ job: ParsedJob) -> PushPosition {
        let push = job.pushes[number]
        let token = Array(job.tokenBytes[push.token])
        guard text.personal != nil else {
            return PushPosition(job: text.id!, token: token, payload: Array(job.raw[job.payload(of: number)]))
        }
        return PushPosition(
            job: text.id!, token: token,
            payload: Array(#"{"aps":{"alert":"\#(push.index) you"},"job":"\#(text.id!)"}"#.utf8),
            collapseID: collapseID(Int(push.index)))
    }

    static func job(_ number: Int, _ random: inout SplitMix) -> JobText {
        var job = JobText(id: "job-\(number)")
        let count = Int.random(in: 1...(Bool.random(using: &random) ? 4 : 200), using: &random)
        job.tokens = (0..<count).map { _ in
            switch Int.random(in: 0..<12, using: &random) {
            case 0: "nonsense"
            case 1: JobText.token(7)
            default:
                JobText.token(
                    Int.random(in: 0..<1_000_000, using: &random),
                    bytes: Int.random(in: 8...40, using: &random))
            }
        }
        if Int.random(in: 0..<3, using: &random) == 0 {
            job.payloads = (0..<count).map { #"{"aps":{"alert":"number \#($0)"}}"# }
        } else {
            job.payload =
                #"{"aps":{"alert":"\#(String(repeating: "a", count: Int.random(in: 0...90, using: &random)))"}}"#
        }
        if Int.random(in: 0..<3, using: &random) == 0 {
            job.payloads = nil
            addValues(to: &job)
        }
        if Int.random(in: 0..<4, using: &random) == 0 { job.fields += #""lane":"bulk","# }
        if Int.random(in: 0..<4, using: &random) == 0 {
            job.fields += #""deliver_at":\#(JobText.now + Int64.random(in: 1...3, using: &random)),"#
        }
        if Int.random(in: 0..<4, using: &random) == 0 { job.fields += #""delivery":"at-most-once","# }
        return job
    }

    /// Reads and checks the output of the queue's steps.
    struct Reader {
        let shards: Int
        let limits: StepLimits
        let jobs: [String: Int]
        var places: [PushPosition] = []
        var opened: [String] = []
        var events: [String: Int] = [:]
        /// For each combination of shard, lane and due time: the number of the last job that was read.
        var last: [String: Int] = [:]

        mutating func read(_ plan: IntakeStep.Plan) throws {
            #expect(plan.jobs.count <= limits.jobs && plan.batches.count <= limits.batches)
            #expect(plan.batches.reduce(0) { $0 + $1.tokens } <= limits.tokens)
            #expect(plan.jobs.reduce(0) { $0 + $1.events.count } <= limits.events)
            let bytes = plan.batches.reduce(0) { $0 + $1.body.count }
            #expect(bytes <= limits.bytes + 3 * limits.batches || plan.batches.map(\.tokens) == [1])
            opened += plan.jobs.filter(\.opens).map(\.id)
            for job in plan.jobs { events[job.id, default: 0] += job.events.count }
            for batch in plan.batches { try read(batch) }
        }

        private mutating func read(_ new: Split.NewBatch) throws {
            let batch = try Batch(decoding: new.body)
            #expect(batch.pushes.count == new.tokens && (1...limits.positions).contains(new.tokens))
            let way = "\(new.shard) \(new.lane) \(new.due)"
            for push in batch.pushes {
                let job = batch.jobID(of: Int(push.jobPart))
                let token = Array(batch.bytes[push.token])
                #expect(ShardHash.shard(of: token, shards: shards) == new.shard)
                let number = jobs[job] ?? -1
                #expect(last[way, default: 0] <= number)
                last[way] = number
                places.append(
                    PushPosition(
                        job: job, token: token, payload: Array(batch.bytes[push.payload]),
                        collapseID: batch.jobParts[Int(push.jobPart)].options.collapseID))
            }
        }
    }

    @Test(arguments: 0..<24) func `every accepted push is in one batch and in order despite crashes`(
        seed: Int
    )
        throws
    {
        var random = SplitMix(seed: UInt64(seed))
        let shards = [1, 3, 64].randomElement(using: &random)!
        let limits = Bool.random(using: &random) ? IntakeQueueTests.narrow : StepLimits()
        let texts = (0..<40).map { Self.job($0, &random) }
        let jobs = try texts.map { try $0.parsed() }
        let crashes = Bool.random(using: &random)
        var reader = Reader(
            shards: shards, limits: limits,
            jobs: Dictionary(uniqueKeysWithValues: texts.enumerated().map { ($1.id!, $0) }))

        var first = 0
        var queue = IntakeQueue(shards: shards, limits: limits)
        func refill(_ head: IntakeHead?) {
            queue = IntakeQueue(shards: shards, limits: limits)
            for index in first..<jobs.count {
                queue.append(jobs[index], id: texts[index].id!, split: index == first ? head?.offset : nil)
            }
        }
        refill(nil)
        while let step = queue.next() {
            guard case .split(let plan) = step else { continue }
            try reader.read(plan)
            #expect(plan.dropped > 0 || plan.head != nil)
            first += plan.dropped
            if crashes && Bool.random(using: &random) { refill(plan.head) } else { queue.done() }
        }

        #expect(first == jobs.count)
        #expect(queue.openTokens == 0)
        #expect(reader.opened == texts.map { $0.id! })
        let expected = zip(texts, jobs).map { text, job in
            (0..<job.accepted).map { Self.pushPosition($0, of: text, job) }
        }
        // In each shard, the pushes of a job keep the order of the job.
        let byJob = Dictionary(grouping: reader.places, by: \.job)
        for (text, places) in zip(texts, expected) {
            let found = byJob[text.id!] ?? []
            #expect(Set(found) == Set(places) && found.count == places.count)
            let shard = { (place: PushPosition) in ShardHash.shard(of: place.token, shards: shards) }
            #expect(Dictionary(grouping: found, by: shard) == Dictionary(grouping: places, by: shard))
        }
        for (text, job) in zip(texts, jobs) {
            let reported = reader.events[text.id!, default: 0]
            #expect(crashes ? reported >= job.malformed.count : reported == job.malformed.count)
        }
    }
}
