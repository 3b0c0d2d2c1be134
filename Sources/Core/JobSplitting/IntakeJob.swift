import PushModel

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
