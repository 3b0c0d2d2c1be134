package import PushModel
package import RedisProtocol

/// An entry of the results stream.
package struct ResultsRecord: Equatable, Sendable {
    package enum Content: Equatable, Sendable {
        /// A worker's report: to be decoded by `PushModel.ResultsEntry`.
        case report([UInt8])
        /// Positions (from 0) of a batch's body that `reclaim` closed: unknown or poison.
        case closed(FarmReason, body: [UInt8], positions: [Range<Int>])
        /// It was settled in the meantime: acknowledged and gone.
        case gone
        /// It is not of the form that workers and `reclaim` write.
        case unreadable(String)
    }

    package let id: EntryID
    package let content: Content
    /// Of the batch: where what is to be tried again goes.
    package var lane = Lane.high

    package init(id: EntryID, content: Content, lane: Lane = .high) {
        (self.id, self.content, self.lane) = (id, content, lane)
    }
}

/// Makes the group of the gatherers, from the beginning of the stream. An existing one is left as it is.
package struct CreateResultsGroup: Request {
    package static var script: Script? { .group }

    package init() {}

    package func write(_ keys: Keys, to command: inout RESPCommand) { command.append(keys) }

    package static func read(_ value: RESPValue) throws(StoreError) {}
}

/// Reads entries: new ones, or those that this gatherer was given before and has not settled.
///
/// A missing group (``RedisError/refused(_:)`` with code NOGROUP) is to be made again.
package struct ReadResults: Request {
    package enum Which: Sendable {
        case new
        /// Own pending ones behind this id; nil from the first.
        case pending(after: EntryID?)
    }

    package var gatherer: String
    package var which: Which
    package var count: Int
    /// How long to wait for an entry; nil answers at once. Only on a connection of its own.
    package var wait: Duration?

    package init(gatherer: String, _ which: Which, count: Int = 64, wait: Duration? = nil) {
        (self.gatherer, self.which, self.count, self.wait) = (gatherer, which, count, wait)
    }

    package var blocking: Duration { wait ?? .zero }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        for word in ["XREADGROUP", "GROUP", "settlement", gatherer, "COUNT"] { command.append(word) }
        command.append(count)
        if let wait {
            command.append("BLOCK")
            command.append(max(1, wait.wholeMilliseconds))
        }
        command.append("STREAMS")
        command.append(keys.results)
        switch which {
        case .new: command.append(">")
        case .pending(let after): command.append(after?.bytes ?? [UInt8(ascii: "0")])
        }
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> [ResultsRecord] {
        if value.isNull { return [] }
        guard let stream = value.array?.first?.array, stream.count == 2 else {
            throw .unexpectedReply("results")
        }
        return try ResultsRecord.read(stream[1])
    }
}

/// Takes over entries that another gatherer was given and has not settled.
package struct ClaimResults: Request {
    package struct Reply: Sendable {
        package let records: [ResultsRecord]
        /// Where to go on; nil at the end.
        package let next: EntryID?
    }

    package var gatherer: String
    package var idleFor: Duration
    package var start: EntryID?
    package var count: Int

    package init(gatherer: String, idleFor: Duration, start: EntryID? = nil, count: Int = 64) {
        (self.gatherer, self.idleFor, self.start, self.count) = (gatherer, idleFor, start, count)
    }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("XAUTOCLAIM")
        command.append(keys.results)
        command.append("settlement")
        command.append(gatherer)
        command.append(idleFor.wholeMilliseconds)
        command.append(start?.bytes ?? Array("0-0".utf8))
        command.append("COUNT")
        command.append(count)
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        guard let parts = value.array, parts.count >= 2, let next = parts[0].bytes else {
            throw .unexpectedReply("claim")
        }
        let isEnd = next == Array("0-0".utf8)
        return Reply(records: try ResultsRecord.read(parts[1]), next: isEnd ? nil : EntryID(next))
    }
}

extension ResultsRecord {
    fileprivate static func read(_ value: RESPValue) throws(StoreError) -> [ResultsRecord] {
        try ReplyReader.entries(value, "results").map { id, words throws(StoreError) in
            ResultsRecord(id: id, content: content(words), lane: lane(words))
        }
    }

    private static func lane(_ value: RESPValue) -> Lane {
        guard let letter = field("l", of: value)?.first else { return .high }
        return Lane(letter: letter) ?? .high
    }

    private static func field(_ name: Character, of value: RESPValue) -> [UInt8]? {
        guard let words = value.array, let letter = name.asciiValue else { return nil }
        return stride(from: 0, to: words.count - 1, by: 2).lazy.filter { words[$0].bytes == [letter] }
            .first.flatMap { words[$0 + 1].bytes }
    }

    /// What is not as agreed is an entry of its own kind, and keeps no other from being read.
    private static func content(_ value: RESPValue) -> Content {
        if value.array == nil { return .gone }
        if let entry = field("r", of: value) { return .report(entry) }
        guard let body = field("b", of: value), let runs = field("p", of: value) else {
            return .unreadable("neither a report nor closed positions")
        }
        var positions: [Range<Int>] = []
        for run in String(decoding: runs, as: UTF8.self).split(
            separator: ",", omittingEmptySubsequences: false)
        {
            let ends = run.split(separator: "-", omittingEmptySubsequences: false).map {
                Int(foreign: $0)
            }
            // Runs ascend, so that no position is closed twice.
            guard ends.count == 2, let first = ends[0], let last = ends[1],
                first > positions.last?.upperBound ?? 0, first <= last
            else {
                return .unreadable("its positions are not runs")
            }
            positions.append(first - 1..<last)
        }
        let isPoison = field("k", of: value) == [UInt8(ascii: "P")]
        return .closed(isPoison ? .poison : .unknown, body: body, positions: positions)
    }
}
