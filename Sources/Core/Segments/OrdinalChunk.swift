/// The bits of one attribute for 65,536 consecutive ordinals.
///
/// Redis stores a chunk in one of two forms. The length of the bytes shows which form it is. Dense: 8,192 bytes, where
/// the bit of ordinal 0 is the highest bit of the first byte, as for SETBIT. Sparse, with at most 2,048 bits: the
/// ordinals in ascending order, each as a big-endian `UInt16`.
package struct OrdinalChunk: Equatable, Sendable {
    /// The number of ordinals of a chunk.
    package static let size = 65_536
    /// The largest number of bits in the sparse form.
    package static let sparseLimit = 2048

    private static let denseBytes = size / 8

    /// Each word has the bits of 64 ordinals; the highest bit belongs to the lowest ordinal.
    private var words = [UInt64](repeating: 0, count: size / 64)

    /// Creates a chunk without bits.
    package init() {}

    /// A chunk with all bits.
    package static let full: OrdinalChunk = {
        var chunk = OrdinalChunk()
        for index in chunk.words.indices { chunk.words[index] = .max }
        return chunk
    }()

    package init(_ ordinals: some Sequence<UInt16>) {
        for ordinal in ordinals { self[ordinal] = true }
    }

    /// Reads the bytes that Redis stores; nil if `bytes` is neither a dense nor a sparse chunk.
    package init?(bytes: [UInt8]) {
        guard formUnion(bytes: bytes) else { return nil }
    }

    /// Adds the bits of another chunk, given as the bytes that Redis stores.
    /// - Returns: false, without a change, if `bytes` is neither a dense nor a sparse chunk.
    package mutating func formUnion(bytes: [UInt8]) -> Bool {
        guard bytes.count != Self.denseBytes else {
            bytes.withUnsafeBytes { bytes in
                for index in words.indices {
                    let word = bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self)
                    words[index] |= UInt64(bigEndian: word)
                }
            }
            return true
        }
        guard let ordinals = Self.sparse(bytes) else { return false }
        for ordinal in ordinals { self[ordinal] = true }
        return true
    }

    /// The ordinals of a sparse chunk; nil if `bytes` is not a sparse chunk.
    private static func sparse(_ bytes: [UInt8]) -> [UInt16]? {
        guard bytes.count.isMultiple(of: 2), bytes.count <= sparseLimit * 2 else { return nil }
        var ordinals: [UInt16] = []
        ordinals.reserveCapacity(bytes.count / 2)
        for index in stride(from: 0, to: bytes.count, by: 2) {
            let ordinal = UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1])
            if let last = ordinals.last, ordinal <= last { return nil }
            ordinals.append(ordinal)
        }
        return ordinals
    }

    /// The bytes as Redis stores them: sparse if the chunk has at most ``sparseLimit`` bits, otherwise dense.
    package var bytes: [UInt8] {
        guard count > Self.sparseLimit else {
            return ordinals.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
        }
        return words.flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * UInt64($0))) }
        }
    }

    package subscript(ordinal: UInt16) -> Bool {
        get { words[Int(ordinal) / 64] & Self.mask(ordinal) != 0 }
        set {
            if newValue {
                words[Int(ordinal) / 64] |= Self.mask(ordinal)
            } else {
                words[Int(ordinal) / 64] &= ~Self.mask(ordinal)
            }
        }
    }

    package var isEmpty: Bool { words.allSatisfy { $0 == 0 } }

    /// The number of bits that are set.
    package var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

    /// The ordinals whose bits are set, in ascending order.
    package var ordinals: [UInt16] {
        var found: [UInt16] = []
        found.reserveCapacity(count)
        for (index, word) in words.enumerated() {
            var rest = word
            while rest != 0 {
                let bit = rest.leadingZeroBitCount
                found.append(UInt16(index * 64 + bit))
                rest &= ~(1 << (63 - UInt64(bit)))
            }
        }
        return found
    }

    package mutating func formIntersection(_ other: OrdinalChunk) {
        for index in words.indices { words[index] &= other.words[index] }
    }

    package mutating func formUnion(_ other: OrdinalChunk) {
        for index in words.indices { words[index] |= other.words[index] }
    }

    package mutating func subtract(_ other: OrdinalChunk) {
        for index in words.indices { words[index] &= ~other.words[index] }
    }

    /// Keeps the bits that exactly one of the two chunks has.
    package mutating func formSymmetricDifference(_ other: OrdinalChunk) {
        for index in words.indices { words[index] ^= other.words[index] }
    }

    /// Clears the bits of an ordinal, 0...65,536, and of all higher ordinals.
    package mutating func removeAll(from ordinal: Int) {
        precondition((0...Self.size).contains(ordinal), "ordinal \(ordinal) of a chunk")
        guard ordinal < Self.size else { return }
        let (word, bit) = (ordinal / 64, ordinal % 64)
        words[word] &= bit == 0 ? 0 : ~(UInt64.max >> UInt64(bit))
        for index in word + 1..<words.count { words[index] = 0 }
    }

    private static func mask(_ ordinal: UInt16) -> UInt64 { 1 << (63 - UInt64(ordinal) % 64) }
}
