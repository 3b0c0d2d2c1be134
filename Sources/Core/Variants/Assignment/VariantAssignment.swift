import Segments

/// Which variant each of 65,536 consecutive ordinals got. Once assigned, a device keeps its variant.
package struct VariantAssignment: Equatable, Sendable {
    /// What a device was assigned to.
    package enum Arm: Hashable, Sendable {
        /// The index of the variant in the campaign's list.
        case variant(Int)
        /// The device gets no push, so that the campaign's effect can be measured.
        case holdout
    }

    /// The greatest number of variants of a campaign.
    package static let mostVariants = 14

    private static let holdoutNumber = OrdinalNumbers.largest

    /// 0 for a device without an assignment, the index of its variant plus 1, or ``holdoutNumber``.
    private var numbers: OrdinalNumbers

    /// Creates a chunk without assignments.
    package init() { numbers = OrdinalNumbers() }

    /// Reads the bytes that Redis stores, in the forms of `OrdinalNumbers`; nil if the bytes have another form.
    package init?(bytes: [UInt8]) {
        guard let numbers = OrdinalNumbers(bytes: bytes) else { return nil }
        self.numbers = numbers
    }

    /// The bytes as Redis stores them.
    package var bytes: [UInt8] { numbers.bytes }

    /// The number of devices with an assignment.
    package var count: Int { numbers.count }

    /// What a device was assigned to; nil if it has no assignment.
    package subscript(ordinal: UInt16) -> Arm? {
        let number = numbers[ordinal]
        if number == Self.holdoutNumber { return .holdout }
        return number > 0 ? .variant(number - 1) : nil
    }

    /// Assigns a device, unless it has an assignment already.
    /// - Parameter arm: a variant's index is below ``mostVariants``.
    /// - Returns: what the device is assigned to now.
    package mutating func assign(_ ordinal: UInt16, to arm: @autoclosure () -> Arm) -> Arm {
        if let arm = self[ordinal] { return arm }
        let arm = arm()
        switch arm {
        case .holdout: numbers[ordinal] = Self.holdoutNumber
        case .variant(let index):
            precondition((0..<Self.mostVariants).contains(index), "variant \(index)")
            numbers[ordinal] = index + 1
        }
        return arm
    }
}
