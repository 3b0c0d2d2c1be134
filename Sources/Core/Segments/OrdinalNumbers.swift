/// A small number, 0 to 15, for each of 65,536 consecutive ordinals.
///
/// Redis stores the numbers in one of two forms. The length of the bytes shows which form it is. Dense: 32,768 bytes with
/// two ordinals a byte, where the number of the lower ordinal is in the four high bits. Sparse, with at most 8,192
/// numbers above 0: three bytes for each such number, which are the ordinal as a big-endian `UInt16` and the number. The
/// ordinals of the sparse form ascend.
package struct OrdinalNumbers: Equatable, Sendable {
    /// The largest number that can be stored.
    package static let largest = 15
    /// The largest number of entries in the sparse form.
    package static let sparseLimit = 8192

    private static let entryBytes = 3
    private static let denseBytes = OrdinalChunk.size / 2

    /// The dense form.
    private var pairs = [UInt8](repeating: 0, count: denseBytes)

    /// Creates numbers that are all 0.
    package init() {}

    /// Reads the bytes that Redis stores. Empty bytes mean that all numbers are 0.
    /// - Returns: nil if `bytes` has neither the dense nor the sparse form.
    package init?(bytes: [UInt8]) {
        guard bytes.count != Self.denseBytes else {
            pairs = bytes
            return
        }
        guard bytes.count.isMultiple(of: Self.entryBytes),
            bytes.count <= Self.sparseLimit * Self.entryBytes
        else { return nil }
        var last: UInt16?
        for index in stride(from: 0, to: bytes.count, by: Self.entryBytes) {
            let ordinal = UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1])
            let number = Int(bytes[index + 2])
            if let last, ordinal <= last { return nil }
            guard (1...Self.largest).contains(number) else { return nil }
            self[ordinal] = number
            last = ordinal
        }
    }

    /// The bytes as Redis stores them: sparse if at most ``sparseLimit`` numbers are above 0, otherwise dense.
    package var bytes: [UInt8] {
        let count = count
        guard count <= Self.sparseLimit else { return pairs }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count * Self.entryBytes)
        for (index, pair) in pairs.enumerated() where pair != 0 {
            for (ordinal, number) in [(index * 2, pair >> 4), (index * 2 + 1, pair & 15)] where number != 0 {
                bytes.append(UInt8(ordinal >> 8))
                bytes.append(UInt8(truncatingIfNeeded: ordinal))
                bytes.append(number)
            }
        }
        return bytes
    }

    /// The number of an ordinal. A new value is limited to 0...15.
    package subscript(ordinal: UInt16) -> Int {
        get {
            let pair = pairs[Int(ordinal) / 2]
            return Int(ordinal.isMultiple(of: 2) ? pair >> 4 : pair & 15)
        }
        set {
            let number = UInt8(min(max(0, newValue), Self.largest))
            let pair = pairs[Int(ordinal) / 2]
            pairs[Int(ordinal) / 2] =
                ordinal.isMultiple(of: 2) ? pair & 15 | number << 4 : pair & 0xF0 | number
        }
    }

    /// The ordinals whose number is at least `least`, which is above 0, in ascending order.
    package func ordinals(atLeast least: Int) -> [UInt16] {
        var found: [UInt16] = []
        for (index, pair) in pairs.enumerated() where pair != 0 {
            if Int(pair >> 4) >= least { found.append(UInt16(index * 2)) }
            if Int(pair & 15) >= least { found.append(UInt16(index * 2 + 1)) }
        }
        return found
    }

    /// How many numbers are above 0.
    package var count: Int {
        pairs.reduce(0) { $0 + ($1 & 0xF0 == 0 ? 0 : 1) + ($1 & 15 == 0 ? 0 : 1) }
    }
}
