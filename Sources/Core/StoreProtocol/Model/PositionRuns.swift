/// Positions of a batch as runs, ascending: what is uniform travels as a range.
///
/// Positions count from 0 here and from 1 in Redis. Reused: ``removeAll()`` keeps the memory.
package struct PositionRuns: Sendable, Equatable {
    /// (first u16, last u16)…, big-endian, counted from 1.
    package private(set) var bytes: [UInt8] = []
    /// Positions in all runs.
    package private(set) var count = 0
    private var next = 0

    /// Pushes of a batch, at most.
    package static let most = 65_535

    package init() {}

    package var isEmpty: Bool { count == 0 }

    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        count = 0
        next = 0
    }

    /// Adds one position, behind all that were added before.
    package mutating func append(_ position: Int) {
        append(position..<position + 1)
    }

    /// Adds positions, behind all that were added before; a run that touches the last one extends it.
    package mutating func append(_ positions: Range<Int>) {
        guard !positions.isEmpty else { return }
        precondition(positions.lowerBound >= next && positions.upperBound <= Self.most, "runs ascend")
        if !bytes.isEmpty && positions.lowerBound == next {
            bytes.removeLast(2)
        } else {
            put(positions.lowerBound + 1)
        }
        put(positions.upperBound)
        count += positions.count
        next = positions.upperBound
    }

    private mutating func put(_ position: Int) {
        bytes.append(UInt8(truncatingIfNeeded: position >> 8))
        bytes.append(UInt8(truncatingIfNeeded: position))
    }
}
