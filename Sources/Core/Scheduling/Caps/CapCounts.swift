package import Segments

/// How many pushes each of 65,536 devices got in one period: a counter of caps for a chunk of ordinals.
///
/// A count stops at 15, which is the greatest cap.
package struct CapCounts: Equatable, Sendable {
    private var numbers: OrdinalNumbers

    /// Creates counts that are all 0.
    package init() { numbers = OrdinalNumbers() }

    /// Reads the bytes that Redis stores, in the forms of `OrdinalNumbers`; nil if the bytes have another form.
    package init?(bytes: [UInt8]) {
        guard let numbers = OrdinalNumbers(bytes: bytes) else { return nil }
        self.numbers = numbers
    }

    /// The bytes as Redis stores them.
    package var bytes: [UInt8] { numbers.bytes }

    /// The number of a device's pushes in the period, 0...15.
    package subscript(ordinal: UInt16) -> Int { numbers[ordinal] }

    /// Whether a device already got as many pushes as a cap allows.
    package func isReached(_ ordinal: UInt16, cap: Int) -> Bool { numbers[ordinal] >= cap }

    /// Returns the devices that already got as many pushes as a cap allows, for plans that say whom a cap excludes.
    /// - Parameter cap: at least 1.
    package func reached(cap: Int) -> OrdinalChunk { OrdinalChunk(numbers.ordinals(atLeast: cap)) }

    /// Counts one push to each of the devices. A device that is given twice counts twice.
    package mutating func add(_ ordinals: some Sequence<UInt16>) {
        for ordinal in ordinals { numbers[ordinal] += 1 }
    }
}
