package import PushModel
package import RedisProtocol

/// An entry of the results stream.
package struct ResultsStreamEntry: Equatable, Sendable {
    package enum Content: Equatable, Sendable {
        /// A worker's report, to be decoded by `PushModel.WorkerReport`.
        case report([UInt8])
        /// Positions of a batch, counted from 0. `reclaim` closed these positions because their outcome is unknown or they are
        /// poison.
        case closed(FarmReason, body: [UInt8], positions: [Range<Int>])
        /// The entry was settled and deleted before, but is still pending, so the reader only has to acknowledge it.
        case gone
        /// The entry does not have the format that workers and `reclaim` write.
        case unreadable(String)
    }

    package let id: EntryID
    package let content: Content
    /// The batch's lane. Retries that the entry causes stay in this lane.
    package var lane = Lane.high

    package init(id: EntryID, content: Content, lane: Lane = .high) {
        (self.id, self.content, self.lane) = (id, content, lane)
    }
}

extension ResultsStreamEntry {
    fileprivate static func read(
        _ value: RESPValue, of request: Any.Type
    ) throws(StoreError) -> [ResultsStreamEntry] {
        try ReplyReader.entries(value, request).map { id, words in
            let fields = ReplyFields(pairs: words)
            let lane = fields.bytes("l")?.first.flatMap { Lane(letter: $0) } ?? .high
            let content = words.array == nil ? .gone : content(fields)
            return ResultsStreamEntry(id: id, content: content, lane: lane)
        }
    }

    /// An entry in an unknown format becomes `unreadable`, so that the remaining entries can still be read.
    private static func content(_ fields: ReplyFields) -> Content {
        if let entry = fields.bytes("r") { return .report(entry) }
        guard let body = fields.bytes("b"), let runs = fields.text("p") else {
            return .unreadable("neither a report nor closed positions")
        }
        var positions: [Range<Int>] = []
        for run in runs.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = run.split(separator: "-", omittingEmptySubsequences: false).map {
                Int(foreign: $0)
            }
            // Runs must ascend, so that no position is closed twice.
            guard ends.count == 2, let first = ends[0], let last = ends[1],
                first > positions.last?.upperBound ?? 0, first <= last
            else {
                return .unreadable("its positions are not runs")
            }
            positions.append(first - 1..<last)
        }
        return .closed(fields.text("k") == "P" ? .poison : .unknown, body: body, positions: positions)
    }
}

/// Creates the coordinators' consumer group, which reads the stream from its beginning. If the group exists, the call changes
/// nothing.
package struct CreateResultsGroup: Request {
    package static var script: Script? { .createGroup }
    package typealias Reply = Void

    package init() {}

    package var words: [any CommandArgument] { [ScriptKeys.prefix] }
}

/// Reads new entries, or entries that this consumer received before and has not settled.
///
/// If the group is missing (``RedisError/refused(_:)`` with code NOGROUP), the caller creates the group again.
package struct ReadResults: Request {
    package enum Entries: Sendable {
        case new
        /// Pending entries of this consumer after this id; nil starts at its first pending entry.
        case pending(after: EntryID?)
    }

    package let words: [any CommandArgument]
    package let count: Int

    package init(consumer: String, _ which: Entries, count: Int = 64) {
        self.count = count
        let start =
            switch which {
            case .new: ">"
            case .pending(let after): after?.description ?? "0"
            }
        words = [
            "XREADGROUP", "GROUP", "settlement", consumer, "COUNT", count, "STREAMS", AppKey(\.results),
            start,
        ]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> [ResultsStreamEntry] {
        if value.isNull { return [] }
        guard let stream = value.array?.first?.array, stream.count == 2 else {
            throw .unexpectedReply("\(Self.self)")
        }
        return try ResultsStreamEntry.read(stream[1], of: Self.self)
    }
}

/// Claims entries that another consumer received and has not settled.
package struct ClaimResults: Request {
    package struct Reply: Sendable {
        package let records: [ResultsStreamEntry]
        /// Where the next call starts; nil if no entries are left.
        package let next: EntryID?
    }

    package let words: [any CommandArgument]

    package init(consumer: String, idleFor: Duration, start: EntryID? = nil, count: Int = 64) {
        words = [
            "XAUTOCLAIM", AppKey(\.results), "settlement", consumer, idleFor, start ?? .first, "COUNT", count,
        ]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        guard let parts = value.array, parts.count >= 2, let next = parts[0].bytes.map({ EntryID($0) }) else {
            throw .unexpectedReply("\(Self.self)")
        }
        let records = try ResultsStreamEntry.read(parts[1], of: Self.self)
        return Reply(records: records, next: next.bytes == EntryID.first.bytes ? nil : next)
    }
}

/// Reads a page of the reports that are not settled yet. Reports that cannot be read are skipped.
package struct ListReports: Request {
    package struct Reply: Sendable {
        package let entries: [(id: EntryID, entry: WorkerReport)]
        /// The start of the next page; nil if no reports are left.
        package let next: EntryID?
    }

    private static let page = 64

    package let words: [any CommandArgument]

    package init(after: EntryID?) {
        words = StreamRange.after(after).words(AppKey(\.results), count: Self.page)
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        let all = try ReplyReader.entries(value, Self.self)
        let entries = all.compactMap { id, words -> (EntryID, WorkerReport)? in
            guard let bytes = ReplyFields(pairs: words).bytes("r"),
                let entry = try? WorkerReport(decoding: bytes)
            else { return nil }
            return (id, entry)
        }
        return Reply(entries: entries, next: all.count == Self.page ? all.last?.id : nil)
    }
}

/// Records that an entry of the results stream cannot be settled. Redis keeps the reason until the entry is settled or repaired.
package struct NoteUnsettleable: Request {
    /// Whether this call was the first to record the entry.
    package typealias Reply = Bool

    package let words: [any CommandArgument]

    /// - Parameter at: the time in Unix milliseconds of Redis's clock.
    package init(_ entry: EntryID, at: Int64, reason: String) {
        words = ["HSETNX", AppKey(\.unsettled), entry, "\(at) \(reason)"]
    }
}

/// Moves delayed batches that are due to their ready lists. A call that moves at most 128 batches blocks Redis for less than 5
/// ms.
package struct PromoteDue: Request {
    package struct Reply: Equatable, Sendable {
        /// The time until the next batch is due; nil if no batch is delayed.
        package let nextDue: Duration?
        /// Shards whose ready lists received batches.
        package let woken: [Int]
    }

    package static var script: Script? { .promoteDue }

    package let words: [any CommandArgument]

    package init(limit: Int = 128) {
        words = [ScriptKeys.prefix, limit]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        return Reply(nextDue: try reader.duration(), woken: try reader.remainingShards())
    }
}
