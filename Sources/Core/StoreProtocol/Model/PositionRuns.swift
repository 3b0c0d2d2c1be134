/// Positions of a batch as ascending runs: consecutive positions are stored as one range.
///
/// The arguments of the methods count positions from 0; ``bytes`` and the scripts count positions from 1. Callers can reuse a
/// value: ``removeAll()`` keeps the memory.
package struct PositionRuns: Sendable, Equatable {
    /// The runs as pairs of first and last position: big-endian UInt16, counted from 1.
    package private(set) var bytes: [UInt8] = []
    /// The number of positions in all runs.
    package private(set) var count = 0
    private var next = 0

    /// The highest position that fits into two bytes, and so the maximum number of pushes in a batch.
    package static let most = 65_535

    package init() {}

    package var isEmpty: Bool { count == 0 }

    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        count = 0
        next = 0
    }

    /// Adds one position, which must be higher than all earlier positions.
    package mutating func append(_ position: Int) {
        append(position..<position + 1)
    }

    /// Adds positions, which must be higher than all earlier positions. Positions that directly follow the last run extend that
    /// run.
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
