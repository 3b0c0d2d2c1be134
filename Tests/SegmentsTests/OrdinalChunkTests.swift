import PushModel
import Segments
import Testing

struct OrdinalChunkTests {
    private static func random(_ count: Int, seed: UInt64) -> Set<UInt16> {
        var random = SeededRandom(seed: seed)
        var found: Set<UInt16> = []
        while found.count < count { found.insert(.random(in: 0...UInt16.max, using: &random)) }
        return found
    }

    @Test(arguments: [(0, 0), (1, 2), (2048, 4096), (2049, 8192), (65_536, 8192)])
    func `a chunk with few bits is sparse, and reads back`(bits: Int, bytes: Int) throws {
        let ordinals = Self.random(bits, seed: 5)
        let chunk = OrdinalChunk(ordinals)
        #expect(chunk.count == bits && chunk.bytes.count == bytes)
        #expect(chunk.ordinals == ordinals.sorted())
        #expect(try #require(OrdinalChunk(bytes: chunk.bytes)) == chunk)
    }

    @Test func `a dense chunk has the bit order of SETBIT`() {
        var bytes = [UInt8](repeating: 0, count: 8192)
        (bytes[0], bytes[1], bytes[8191]) = (0x80, 0x01, 0x01)
        #expect(OrdinalChunk(bytes: bytes)?.ordinals == [0, 15, 65_535])
    }

    /// Chunks with an odd length, a descending ordinal, a repeated ordinal, and lengths that neither form of a chunk has.
    private static let wrong: [[UInt8]] = [
        [1], [0, 1, 2], [0, 2, 0, 1], [0, 1, 0, 1], zeros(4098), zeros(8191), zeros(8193),
    ]

    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    @Test(arguments: wrong) func `other bytes are refused`(bytes: [UInt8]) {
        #expect(OrdinalChunk(bytes: bytes) == nil)
    }

    @Test func `set operations agree with sets`() {
        let (a, b) = (Self.random(9000, seed: 1), Self.random(20_000, seed: 2))
        var (both, either, only) = (OrdinalChunk(a), OrdinalChunk(a), OrdinalChunk(a))
        both.formIntersection(OrdinalChunk(b))
        either.formUnion(OrdinalChunk(b))
        only.subtract(OrdinalChunk(b))
        #expect(both.ordinals == a.intersection(b).sorted())
        #expect(either.ordinals == a.union(b).sorted())
        #expect(only.ordinals == a.subtracting(b).sorted())
    }

    @Test func `a bit is set and cleared`() {
        var chunk = OrdinalChunk([7, 64])
        chunk[64] = false
        chunk[63] = true
        #expect(chunk.ordinals == [7, 63] && chunk[63] && !chunk[64])
    }
}
