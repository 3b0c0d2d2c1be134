import PushModel

/// Divides the rows of an upload into groups and pages.
///
/// Memory is bounded, beside 16 to 32 bytes for each row: the caller takes the finished pieces after each row, and all pieces when
/// ``openBytes`` is too large.
package struct ListBuilder: Sendable {
    /// The rows of a time zone.
    private struct Group {
        let zone: String?
        var rows = 0
        /// The size of the written part of the present page.
        var written = 0
        /// The part of the present page that is not written yet.
        var open: [UInt8] = []
    }

    private var groups: [Group] = []
    private var numbers: [String?: Int] = [:]
    private var tokens: Set<UInt64> = []
    private var columns: [String: (rows: Int, longest: Int)] = [:]
    private var finished: [ListPiece] = []
    /// The rows that were left out, because an earlier row has the same token.
    package private(set) var duplicates = 0
    /// The rows that were added.
    package private(set) var rows = 0
    /// The size of all pages and pieces that the caller has not taken, in bytes.
    package private(set) var openBytes = 0
    /// The size of the pieces that ``takeFinished()`` returns, in bytes.
    package private(set) var finishedBytes = 0

    package init() {}

    /// Adds a row, unless an earlier row has the same token.
    ///
    /// - Throws: an error if the list would have too many rows or zones. The row is not added.
    package mutating func add(_ parsed: ParsedListRow) throws(ListRowError) {
        // Two tokens have the same hash with a probability of less than 10^-5, even in the largest list.
        let hash = XXH64.hash(parsed.token, seed: 0)
        guard !tokens.contains(hash) else {
            duplicates += 1
            return
        }
        guard rows < UploadedList.mostRows else {
            throw ListRowError("", "the list already has \(UploadedList.mostRows) rows")
        }
        let number = try number(of: parsed.zone)
        tokens.insert(hash)
        for (name, size) in zip(parsed.names, parsed.sizes)
        where columns.count < UploadedList.mostColumns || columns[name] != nil {
            let column = columns[name] ?? (0, 0)
            columns[name] = (column.rows + 1, max(column.longest, size))
        }
        rows += 1
        let before = groups[number].open.count
        parsed.row.append(to: &groups[number].open)
        groups[number].rows += 1
        openBytes += groups[number].open.count - before
        if groups[number].rows.isMultiple(of: ListPage.size) { finishPiece(of: number, endsPage: true) }
    }

    private mutating func number(of zone: String?) throws(ListRowError) -> Int {
        if let number = numbers[zone] { return number }
        guard groups.count < UploadedList.mostGroups else {
            throw ListRowError(
                "zone", "the list already has \(UploadedList.mostGroups) different time zones")
        }
        numbers[zone] = groups.count
        groups.append(Group(zone: zone))
        return groups.count - 1
    }

    /// - Parameter endsPage: whether the group's last row is the last one of its page.
    private mutating func finishPiece(of number: Int, endsPage: Bool) {
        let group = groups[number]
        let page = (group.rows - 1) / ListPage.size
        finished.append(
            ListPiece(group: number, page: page, offset: group.written, bytes: group.open))
        finishedBytes += group.open.count
        groups[number].written = endsPage ? 0 : group.written + group.open.count
        groups[number].open = []
    }

    /// Takes the pieces whose pages are complete, in the order in which they must be written.
    package mutating func takeFinished() -> [ListPiece] {
        let pieces = finished
        finished = []
        openBytes -= finishedBytes
        finishedBytes = 0
        return pieces
    }

    /// Takes all pieces, in the order in which they must be written.
    package mutating func takeAll() -> [ListPiece] {
        for number in groups.indices where !groups[number].open.isEmpty {
            finishPiece(of: number, endsPage: false)
        }
        return takeFinished()
    }

    /// The groups so far, in the order of their numbers.
    package var listGroups: [UploadedList.Group] {
        groups.map { UploadedList.Group(zone: $0.zone, rows: $0.rows) }
    }

    /// The names of values so far, with the number of rows and the longest value of each.
    package var listColumns: [UploadedList.Column] {
        columns.map { UploadedList.Column(name: $0.key, rows: $0.value.rows, longest: $0.value.longest) }
            .sorted { $0.name < $1.name }
    }
}
