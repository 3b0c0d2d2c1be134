package import Scheduling
package import Segments

/// The devices of a chunk that had a push of a merge group recently.
package struct MergeRecency: Sendable {
    /// The slot of now, in which the pushes of a step are noted.
    package let slot: Int64
    /// The devices that got a push in the present slot.
    package private(set) var present: OrdinalChunk
    /// The devices that get no push now, by the time until which they get none, in ascending order.
    private let closed: [(until: UTCTime, devices: OrdinalChunk)]

    /// - Parameters:
    ///   - bitmaps: the devices of the slots that ``slots(_:at:)`` names, in the same order.
    package init(_ spacing: MergeSpacing, at time: UTCTime, _ bitmaps: [OrdinalChunk]) {
        slot = spacing.slot(at: time)
        present = bitmaps.last ?? OrdinalChunk()
        let open = spacing.closedSlots(at: time)
        closed = zip(Self.slots(spacing, at: time), bitmaps).filter { open.contains($0.0) }
            .map { (spacing.end(ofSlot: $0.0), $0.1) }
    }

    /// The slots whose bitmaps are needed at a time. The last one is the present slot.
    package static func slots(_ spacing: MergeSpacing, at time: UTCTime) -> [Int64] {
        let present = spacing.slot(at: time)
        return spacing.closedSlots(at: time).filter { $0 < present } + [present]
    }

    /// The time until which a device gets no push; nil if it may get a push now.
    package func heldUntil(_ ordinal: UInt16) -> UTCTime? { closed.last { $0.devices[ordinal] }?.until }

    /// Notes that a device gets a push now.
    package mutating func note(_ ordinal: UInt16) { present[ordinal] = true }
}
