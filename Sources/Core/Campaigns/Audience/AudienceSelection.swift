package import Segments

/// A chunk of an audience: 65,536 consecutive ordinals of a partition. Chunks are ordered by partition and then by number.
package struct AudienceChunk: Hashable, Comparable, Sendable {
    /// The partition of the registry, 0...255, or the group of an uploaded list, 0...1023.
    package let partition: Int
    /// The number of the chunk in its partition, 0...255.
    package let number: Int

    package init(partition: Int, number: Int) { (self.partition, self.number) = (partition, number) }

    package static func < (one: Self, other: Self) -> Bool {
        (one.partition, one.number) < (other.partition, other.number)
    }

    /// The ordinal in the partition of the chunk's first device.
    package var firstOrdinal: Int { number * OrdinalChunk.size }
}

/// Selects the devices of one chunk to which a step sends.
package struct AudienceSelection: Sendable {
    /// The devices of the chunk that still need the round's push, in all cells.
    private let devices: OrdinalChunk
    private let chunk: AudienceChunk
    private let cells: AudienceCells

    /// - Parameters:
    ///   - members: the devices of the chunk that are in the audience now.
    ///   - sent: the devices for which this round already has a push, or that it counted as capped, excluded or unsendable.
    ///   - done: the devices that reported that they are done.
    ///   - limit: the first ordinal of the partition that is not in the audience, because its device is newer than the campaign's
    ///     start.
    package init(
        _ chunk: AudienceChunk, members: OrdinalChunk, sent: OrdinalChunk, done: OrdinalChunk, limit: Int,
        cells: AudienceCells
    ) {
        var devices = members
        devices.subtract(sent)
        devices.subtract(done)
        let end = limit - chunk.firstOrdinal
        if end < OrdinalChunk.size { devices.removeAll(from: max(0, end)) }
        (self.devices, self.chunk, self.cells) = (devices, chunk, cells)
    }

    /// Adds the number of devices of each cell to `counts`, which has a number for each cell.
    package func count(into counts: inout [Int]) {
        guard cells.count > 1 else {
            counts[0] += devices.count
            return
        }
        for ordinal in devices.ordinals { counts[cells.index(of: cell(of: ordinal))] += 1 }
    }

    /// Whether no device of the chunk needs the round's push.
    package var isEmpty: Bool { devices.isEmpty }

    /// The devices that a step sends to.
    package struct Choice: Hashable, Sendable {
        /// The ordinals in the chunk, in ascending order.
        package let ordinals: [UInt16]
        /// Where the next step continues: the first ordinal in the chunk that this step did not look at, 0...65,536.
        package let next: Int
        /// Whether the chunk has no further devices of the cell.
        package let isExhausted: Bool
    }

    /// Chooses devices of one cell.
    ///
    /// - Parameters:
    ///   - start: the first ordinal in the chunk to look at, 0...65,536.
    ///   - end: the first ordinal in the chunk that this step must not look at, because its device got its last push too
    ///     recently; 65,536 if there is no such ordinal.
    ///   - most: the maximum number of devices.
    package func choose(_ cell: AudienceCells.Cell, from start: Int, to end: Int, most: Int) -> Choice {
        var (chosen, next): ([UInt16], Int) = ([], min(max(start, 0), OrdinalChunk.size))
        let end = min(max(end, next), OrdinalChunk.size)
        for ordinal in devices.ordinals where Int(ordinal) >= next {
            guard cells.count == 1 || self.cell(of: ordinal) == cell else { continue }
            guard Int(ordinal) < end, chosen.count < most else {
                return Choice(
                    ordinals: chosen, next: chosen.count < most ? end : Int(ordinal), isExhausted: false)
            }
            chosen.append(ordinal)
            next = Int(ordinal) + 1
        }
        return Choice(ordinals: chosen, next: OrdinalChunk.size, isExhausted: true)
    }

    /// The devices that are due for a push of another campaign, among some devices of the chunk.
    ///
    /// - Parameter stage: the stage of the cells that the campaign sends to now.
    package func devices(among ordinals: [UInt16], ofStage stage: Int) -> OrdinalChunk {
        OrdinalChunk(
            ordinals.filter { devices[$0] && (cells.count == 1 || cell(of: $0).stage == stage) })
    }

    private func cell(of ordinal: UInt16) -> AudienceCells.Cell {
        cells.cell(partition: chunk.partition, ordinal: chunk.firstOrdinal + Int(ordinal))
    }
}
