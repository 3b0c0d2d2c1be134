import PushModel
package import StoreProtocol

/// One step of the intake: splits jobs into batches, or refuses a job. Redis executes each step atomically.
package enum IntakeStep {
    case split(Plan)
    /// Refuses the first job. The farm stores the job's original bytes, so that operators can inspect them.
    case refuse(Refusal)
    /// Moves this number of jobs to the jobs that wait for a look-up of their users, devices or tokens.
    case queueLookups(Int)

    /// The job records and batches that the step creates. The request ``Split`` has the same types.
    package struct Plan {
        package var dropped = 0
        package var head: IntakeHead?
        package var jobs: [Split.Job] = []
        package var batches: [Split.NewBatch] = []
    }

    package struct Refusal {
        package var job: String?
        package var field: String
        /// The offset of the fault in the job's bytes.
        package var position: Int
        package var reason: String
        package var original: [UInt8]
        /// True if the job is refused because a job with the same id is open, or came within the last 24 hours.
        package var isDuplicate = false
    }
}

/// Limits of one intake step, so that a step blocks Redis for at most 5 ms, or at most 10 ms if the jobs are small.
///
/// The time is longer for small jobs, because a step needs many small jobs to fill large batches.
package struct StepLimits: Sendable {
    package let tokens: Int
    package let jobs: Int
    package let batches: Int
    /// The maximum number of events about malformed pushes in one step.
    package let events: Int
    /// The maximum size in bytes of a step's batches together. If one push alone is larger, a step may contain this push.
    package let bytes: Int
    /// The maximum number of pushes in one batch.
    package let positions: Int
    /// The number of pushes from which a step may end early.
    ///
    /// If the queue has more pushes than a step can contain, and the step has at least this number, the step ends at a push whose
    /// batch is full. If the step went on, this push would start a second batch, which would probably stay small.
    package let tokensBeforeEarlyEnd: Int

    package init(
        tokens: Int = 16_384, jobs: Int = 640, batches: Int = 128, events: Int = 256, bytes: Int = 2 << 20,
        positions: Int = 256, tokensBeforeEarlyEnd: Int = 8_192
    ) {
        (self.tokens, self.jobs, self.batches, self.events) = (tokens, jobs, batches, events)
        (self.bytes, self.positions) = (bytes, positions)
        self.tokensBeforeEarlyEnd = tokensBeforeEarlyEnd
    }
}

/// A taken job that is not completely split, or that will be refused.
struct IntakeJob {
    enum Content {
        case parsed(ParsedJob)
        case refused(IntakeStep.Refusal)
        /// The job names users or devices instead of tokens, or the devices of its tokens must be looked up.
        case lookup
    }

    /// The part of a job that is already split.
    struct Progress: Equatable {
        /// Whether the job record exists.
        var isOpened = false
        /// The number of accepted pushes that are in batches.
        var accepted = 0
        /// The number of malformed pushes that were reported to producers.
        var malformed = 0
    }

    let id: String
    var content: Content
    var progress = Progress()

    var needsLookup: Bool { if case .lookup = content { true } else { false } }

    /// The number of accepted pushes that are in no batch yet.
    var openTokens: Int {
        switch content {
        case .parsed(let job): job.accepted - progress.accepted
        case .refused, .lookup: 0
        }
    }
}

extension ParsedJob {
    /// The progress of a job after an earlier step split `accepted` pushes.
    ///
    /// Malformed pushes before the last of these accepted pushes were reported in an earlier step. The next step reports the
    /// later malformed pushes, and reports a few of them twice if an earlier step has already reported them.
    func progress(accepted: Int) -> IntakeJob.Progress {
        let accepted = min(accepted, self.accepted)
        guard accepted > 0 else { return .init(isOpened: true) }
        let last = pushes[accepted - 1].index
        let unreported = malformed.firstIndex { $0.index > last } ?? malformed.count
        return .init(isOpened: true, accepted: accepted, malformed: unreported)
    }
}

/// Job ids for jobs that have no id from their producer.
package enum JobID {
    private static let digits = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)

    /// A job id with 128 random bits as 26 characters.
    package static func random(using generator: inout some RandomNumberGenerator) -> String {
        var rest = UInt128(generator.next()) << 64 | UInt128(generator.next())
        let characters = (0..<26).map { _ in
            defer { rest >>= 5 }
            return digits[Int(truncatingIfNeeded: rest & 31)]
        }
        return String(decoding: characters, as: UTF8.self)
    }

    package static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        return random(using: &generator)
    }
}
