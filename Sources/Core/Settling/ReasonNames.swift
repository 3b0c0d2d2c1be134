/// The names under which job records count failures: a gateway may say anything, a job record has room for some names.
struct ReasonNames {
    private static let other = "Other"
    private static let longest = 64
    private static let most = 128

    private var known: Set<String> = []

    init() {}

    /// The name for a reason; `Other` for one that is too long, not plain text, or one too many.
    mutating func name(_ reason: String) -> String {
        if known.contains(reason) { return reason }
        guard known.count < Self.most, (1...Self.longest).contains(reason.utf8.count),
            reason.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { return Self.other }
        known.insert(reason)
        return reason
    }
}
