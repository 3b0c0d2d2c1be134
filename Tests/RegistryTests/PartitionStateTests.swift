import RedisProtocol
import Registry
import Testing

struct PartitionStateTests {
    private static func hash(_ words: String...) -> RESPValue {
        .array(words.map { .bulk(Array($0.utf8)) })
    }

    private static let sizes: [(next: String, chunks: Int, blocks: Int)] = [
        ("0", 0, 0), ("1", 1, 1), ("128", 1, 1), ("129", 1, 2), ("65536", 1, 512), ("65537", 2, 513),
        ("16777216", 256, 131_072),
        // Values out of range become the nearest valid number, and other values become 0.
        ("16777217", 256, 131_072), ("999999999999", 256, 131_072), ("-5", 0, 0), ("x", 0, 0),
    ]

    @Test(arguments: sizes) func `the next ordinal decides how many chunks and hashes exist`(
        next: String, chunks: Int, blocks: Int
    ) throws {
        let state = try #require(
            PartitionState(meta: Self.hash("next", next, "devices", "7"), names: .array([])))
        #expect(state.chunks == chunks && state.blocks == blocks && state.devices == 7)
    }

    @Test func `a partition without keys is empty`() throws {
        let state = try #require(PartitionState(meta: .array([]), names: .array([])))
        #expect(state.devices == 0 && state.chunks == 0 && state.blocks == 0)
        #expect(state.attributes.alive == nil)
    }

    @Test func `bitmaps are found by the numbers of the dictionary`() throws {
        let state = try #require(
            PartitionState(meta: .array([]), names: Self.hash("alive", "3", "tag:a", "4", "tag:b", "x")))
        #expect(state.attributes.alive == 3)
        #expect(state.attributes.numbers(of: .prefix(.tag, ""), today: 0) == [4])
    }

    @Test func `other replies are refused`() {
        #expect(PartitionState(meta: .null, names: .array([])) == nil)
        #expect(PartitionState(meta: .array([]), names: .integer(1)) == nil)
    }

    @Test(arguments: [("5", 5), ("0", 1), ("-1", 1), ("x", 1), ("281474976710656", 1 << 32)])
    func `an index has at least one bucket`(text: String, wanted: Int) {
        #expect(PartitionState.buckets(.bulk(Array(text.utf8))) == wanted)
        #expect(PartitionState.buckets(.null) == 1)
    }
}
