import PushModel
package import StoreProtocol

/// The next step with the taken jobs, which Redis carries out as a whole.
package enum IntakeStep {
    case split(Plan)
    /// The first job is dropped, its original kept for inspection.
    case refuse(Refusal)

    /// Job records and batches, as ``Split`` takes them.
    package struct Plan {
        package var dropped = 0
        package var head: IntakeHead?
        package var jobs: [Split.Job] = []
        package var batches: [Split.NewBatch] = []
    }

    package struct Refusal {
        package var job: String?
        package var field: String
        /// In bytes.
        package var position: Int
        package var reason: String
        package var original: [UInt8]
        /// A job with its id is open, or is younger than 24 hours.
        package var isDuplicate = false
    }
}

/// Limits of one step of intake. They keep Redis busy for at most 5 ms, or 10 ms with small jobs: the more of them are in a
/// step, the larger are its batches.
package struct StepLimits: Sendable {
    package let tokens: Int
    package let jobs: Int
    package let batches: Int
    /// Events about malformed tokens.
    package let events: Int
    /// Of all bodies together; a single push may exceed it.
    package let bytes: Int
    /// Of one batch.
    package let positions: Int
    /// When so many tokens are in and more are waiting, a full batch ends the step: the rest of its shard would
    /// start a small one.
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

/// A taken job that is not yet completely split, or that is to be refused.
struct IntakeJob {
    enum Content {
        case parsed(ParsedJob)
        case refused(IntakeStep.Refusal)
    }

    /// How much of it is split.
    struct Progress: Equatable {
        /// Its job record exists.
        var isOpened = false
        /// Accepted pushes that are in batches.
        var accepted = 0
        /// Malformed pushes that were reported to producers.
        var malformed = 0
    }

    let id: String
    var content: Content
    var progress = Progress()

    /// Accepted pushes that are in no batch yet.
    var openTokens: Int {
        switch content {
        case .parsed(let job): job.accepted - progress.accepted
        case .refused: 0
        }
    }
}

extension ParsedJob {
    /// A job of which an earlier step split `accepted` pushes.
    ///
    /// Malformed pushes before the last of these were reported. Those behind it are reported now, some perhaps
    /// again.
    func progress(accepted: Int) -> IntakeJob.Progress {
        let accepted = min(accepted, self.accepted)
        guard accepted > 0 else { return .init(isOpened: true) }
        let last = pushes[accepted - 1].index
        let unreported = malformed.firstIndex { $0.index > last } ?? malformed.count
        return .init(isOpened: true, accepted: accepted, malformed: unreported)
    }
}

/// Ids for jobs whose producers gave none.
package enum JobID {
    private static let digits = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)

    /// 128 random bits as 26 characters.
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
