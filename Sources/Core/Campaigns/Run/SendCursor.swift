/// A position in the order in which a round sends: by cohort, then by chunk, then by ordinal. All devices before the position have been
/// handled.
package struct SendCursor: Hashable, Comparable, Sendable {
    package let cohort: Int
    package let chunk: AudienceChunk
    /// The ordinal in the chunk, 0...65,536.
    package let ordinal: Int

    package init(cohort: Int, chunk: AudienceChunk, ordinal: Int) {
        (self.cohort, self.chunk, self.ordinal) = (cohort, chunk, ordinal)
    }

    /// The position before all devices.
    package static let start = SendCursor(
        cohort: 0, chunk: AudienceChunk(partition: 0, number: 0), ordinal: 0)

    package static func < (one: Self, other: Self) -> Bool {
        (one.cohort, one.chunk, one.ordinal) < (other.cohort, other.chunk, other.ordinal)
    }
}
