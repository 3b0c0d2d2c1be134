import PushModel

extension FailureGuard {
    /// The results as text for a field of a record: `50:3 50:0 12:1`, results and failures of each group.
    package var text: String { groups.map { "\($0.results):\($0.failed)" }.joined(separator: " ") }

    /// Reads ``text``. A text of another form counts as no results, because the guard needs only recent results.
    /// - Throws: if share or least number of results are out of their ranges.
    package init(
        text: String, share: Double = defaultShare, least: Int = defaultLeast
    ) throws(ScheduleError) {
        try self.init(share: share, least: least, groups: Self.groups(text) ?? [])
    }

    private static func groups(_ text: String) -> [Group]? {
        guard text.utf8.count <= 256 else { return nil }
        let words = text.split(separator: " ")
        guard words.count <= window / groupSize + 1 else { return nil }
        var groups: [Group] = []
        for word in words {
            let numbers = word.split(separator: ":", omittingEmptySubsequences: false)
            guard numbers.count == 2, let results = Int(foreign: numbers[0]),
                let failed = Int(foreign: numbers[1]), (1...groupSize).contains(results),
                (0...results).contains(failed), groups.last.map({ $0.results == groupSize }) ?? true
            else { return nil }
            groups.append(Group(results: results, failed: failed))
        }
        return groups
    }
}
