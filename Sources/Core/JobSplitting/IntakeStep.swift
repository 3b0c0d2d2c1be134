import PushModel
package import StoreProtocol

/// The next step with the taken jobs. Redis executes each step atomically.
package enum IntakeStep {
    case split(Plan)
    /// Drops the first job, and keeps its original bytes for inspection.
    case refuse(Refusal)
    /// Moves this number of jobs to the jobs that wait for a look-up of their users or devices.
    case setAside(Int)

    /// The job records and batches to create, in the form of ``Split``.
    package struct Plan {
        package var dropped = 0
        package var head: IntakeHead?
        package var jobs: [Split.Job] = []
        package var batches: [Split.NewBatch] = []
    }

    package struct Refusal {
        package var job: String?
        package var field: String
        /// The position of the fault in the job, in bytes.
        package var position: Int
        package var reason: String
        package var original: [UInt8]
        /// Whether a job with the same id is open or younger than 24 hours.
        package var isDuplicate = false
    }
}

/// Limits of one intake step. A step blocks Redis for at most 5 ms, or 10 ms with small jobs. A step may take longer with small
/// jobs, because more jobs in a step give larger batches.
package struct StepLimits: Sendable {
    package let tokens: Int
    package let jobs: Int
    package let batches: Int
    /// Maximum number of events about malformed tokens.
    package let events: Int
    /// Maximum bytes of all bodies together. A single push may exceed this limit.
    package let bytes: Int
    /// Maximum number of positions of one batch.
    package let positions: Int
    /// If a step has this many tokens and more tokens are ready, a full batch ends the step. Otherwise the next pushes of that
    /// batch's shard would start a small batch.
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
        /// The job names users or devices instead of tokens.
        case addressed
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

    var isAddressed: Bool { if case .addressed = content { true } else { false } }

    /// The number of accepted pushes that are in no batch yet.
    var openTokens: Int {
        switch content {
        case .parsed(let job): job.accepted - progress.accepted
        case .refused, .addressed: 0
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
