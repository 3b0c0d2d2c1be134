import PushModel
import StoreProtocol

/// Which letters of an app are meant.
struct DeadLetterFilter: Sendable {
    var job: String?
    /// Empty: any.
    var reasons: Set<String> = []
    var since: Moment?
    /// Empty: any.
    var ids: Set<String> = []

    func covers(_ letter: DeadLetter) -> Bool {
        (job == nil || job == letter.job) && (reasons.isEmpty || reasons.contains(letter.reason))
            && (ids.isEmpty || ids.contains(letter.id.description))
    }

    /// The same words for the same filter: how a replay is known again.
    var words: String {
        var words: [String] = []
        if let job { words.append("job \(job)") }
        words += reasons.sorted().map { "reason \($0)" }
        switch since {
        case .span(let time):
            words.append("since \(time % 1000 == 0 ? "\(time / 1000) s" : "\(time) ms") ago")
        case .at(let moment): words.append("since \(moment) ms")
        case nil: break
        }
        words += ids.sorted().map { "letter \($0)" }
        return words.isEmpty ? "everything" : words.joined(separator: ", ")
    }

    /// `ms-number`, as Redis makes it.
    static func isID(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { UInt64(unbounded: $0) != nil }
    }
}
