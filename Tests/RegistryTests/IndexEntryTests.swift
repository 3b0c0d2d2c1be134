import Registry
import Testing

struct IndexEntryTests {
    private static let places = [
        DevicePlace(partition: 3, ordinal: 66_051), DevicePlace(partition: 3, ordinal: 5),
    ]

    @Test func `entries have these bytes`() {
        let entry = IndexEntry(Self.places)
        #expect(entry.bytes(of: .id) == [0, 0, 5, 1, 2, 3])
        #expect(entry.bytes(of: .token) == [3, 0, 0, 5, 3, 1, 2, 3])
    }

    @Test(arguments: RegistryIndex.allCases) func `reading an entry's bytes gives the entry`(
        index: RegistryIndex
    ) {
        let entry = IndexEntry(Self.places)
        #expect(IndexEntry(bytes: entry.bytes(of: index), of: index, in: 3) == entry)
        #expect(IndexEntry(bytes: [1, 2], of: index, in: 3) == nil)
        #expect(IndexEntry(bytes: [], of: index, in: 3)?.isEmpty == true)
    }

    @Test func `a place is in an entry once`() {
        var entry = IndexEntry(Self.places + Self.places)
        #expect(entry.places.map(\.ordinal) == [5, 66_051])
        entry.insert(Self.places[0])
        #expect(entry.places.count == 2)
        entry.remove(Self.places[0])
        #expect(entry.places == [Self.places[1]])
    }
}
