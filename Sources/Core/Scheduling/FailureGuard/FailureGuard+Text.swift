import PushModel

extension FailureGuard {
    /// The results as text for a field of a record: `9000/12 50:3 50:0 12:1`. The first word has the delivered and failed
    /// pushes that the guard observed last. Each other word has the results and the failures of a group.
    package var text: String {
        let totals = "\(seen.delivered)/\(seen.failed)"
        return groups.reduce(totals) { "\($0) \($1.results):\($1.failed)" }
    }

    /// Reads ``text``. A text of another form counts as no results, because the guard needs only recent results.
    /// - Throws: if share or least number of results are out of their ranges.
    package init(
        text: String, share: Double = defaultShare, least: Int = defaultLeast
    ) throws(ScheduleError) {
        let state = Self.state(text) ?? ([], Totals())
        try self.init(share: share, least: least, groups: state.groups, seen: state.seen)
    }

    private static func state(_ text: String) -> (groups: [Group], seen: Totals)? {
        guard text.utf8.count <= 256 else { return nil }
        let words = text.split(separator: " ")
        guard let first = words.first, let totals = pair(first, "/"), words.count <= window / groupSize + 2
        else { return nil }
        var groups: [Group] = []
        for word in words.dropFirst() {
            guard let (results, failed) = pair(word, ":"), (1...groupSize).contains(results),
                failed <= results, groups.last.map({ $0.results == groupSize }) ?? true
            else { return nil }
            groups.append(Group(results: results, failed: failed))
        }
        return (groups, Totals(delivered: totals.0, failed: totals.1))
    }

    /// Two numbers that are not negative.
    private static func pair(_ word: Substring, _ separator: Character) -> (Int, Int)? {
        let numbers = word.split(separator: separator, omittingEmptySubsequences: false)
        guard numbers.count == 2, let first = Int(foreign: numbers[0]), let second = Int(foreign: numbers[1]),
            first >= 0, second >= 0
        else { return nil }
        return (first, second)
    }
}
