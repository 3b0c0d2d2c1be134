/// The set of tokens in a list: an open-addressing hash table over the list's own bytes.
///
/// Each process has its own seed, so that a producer cannot choose tokens that all hash to one slot.
struct TokenSet {
    /// While the list has fewer tokens than this number, the set needs no table: it compares a new token with each token of the
    /// list.
    private static let compared = 8

    /// The upper 32 bits of a slot are bits of the token's hash. The lower 32 bits are the number of the token in the list,
    /// counted from 1. A free slot is 0.
    private var slots: [UInt64] = []
    private let seed: UInt64
    private var expected = 0

    init() {
        var hasher = Hasher()
        hasher.combine(0)
        seed = UInt64(bitPattern: Int64(hasher.finalize()))
    }

    /// Sets the expected number of tokens.
    mutating func reserveCapacity(_ count: Int) { expected = count }

    /// Adds a token. Returns false if one of `entries` has the same bytes.
    mutating func insert(
        _ token: Range<Int>, at entries: [ParsedJob.Push], in bytes: UnsafeRawBufferPointer
    ) -> Bool {
        guard entries.count >= Self.compared else {
            return !entries.contains { Self.isEqual(bytes, $0.token, token) }
        }
        if slots.count < 2 * (entries.count + 1) { rebuild(entries, bytes) }
        let hash = hash(token, bytes)
        var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[slot] != 0 {
            if (slots[slot] ^ hash) &>> 32 == 0 {
                let number = Int(truncatingIfNeeded: slots[slot] & 0xFFFF_FFFF)
                if Self.isEqual(bytes, entries[number - 1].token, token) { return false }
            }
            slot = (slot + 1) & (slots.count - 1)
        }
        slots[slot] = hash & ~0xFFFF_FFFF | UInt64(entries.count + 1)
        return true
    }

    private mutating func rebuild(_ entries: [ParsedJob.Push], _ bytes: UnsafeRawBufferPointer) {
        let wanted = max(4 * entries.count, 2 * expected)
        let count = 1 << (Int.bitWidth - (wanted - 1).leadingZeroBitCount)
        slots = [UInt64](repeating: 0, count: count)
        for (index, entry) in entries.enumerated() {
            let hash = hash(entry.token, bytes)
            var slot = Int(truncatingIfNeeded: hash) & (count - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (count - 1) }
            slots[slot] = hash & ~0xFFFF_FFFF | UInt64(index + 1)
        }
    }

    private func hash(_ token: Range<Int>, _ bytes: UnsafeRawBufferPointer) -> UInt64 {
        XXH64.hash(UnsafeRawBufferPointer(rebasing: bytes[token]), seed: seed)
    }

    private static func isEqual(_ bytes: UnsafeRawBufferPointer, _ a: Range<Int>, _ b: Range<Int>) -> Bool {
        a.count == b.count
            && UnsafeRawBufferPointer(rebasing: bytes[a]).elementsEqual(
                UnsafeRawBufferPointer(rebasing: bytes[b]))
    }
}
