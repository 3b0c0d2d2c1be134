import RandomTesting
import Registry
import Testing

struct DeviceRecordTests {
    private static let full = DeviceRecord(
        id: "d-1", user: "u-7",
        addresses: [
            .init(DeviceAddress(bytes: [1, 2, 3]), since: 1_790_000_000),
            .init(DeviceAddress(environment: .sandbox, bytes: [4]), since: 1_790_000_300),
        ],
        tags: ["sport", "news"],
        details: [
            .zone: "Asia/Tokyo", .lang: "ja", .platform: "ios", .app: "4.1", .os: "26.0",
            .model: "iPhone17,1",
        ],
        registered: 1_790_000_000, lastSeenDay: 20_717)
    private static let small = DeviceRecord(
        id: "x", user: nil, addresses: [], tags: [], details: [:], registered: 0, lastSeenDay: 0)

    /// `news` has number 1 and `sport` number 300.
    private static let names = AttributeNames(
        fields: [
            ("tag:news", "1"), ("tag:sport", "300"), ("zone:Asia/Tokyo", "2"), ("lang:ja", "3"),
            ("platform:ios", "4"), ("app:4.1", "5"), ("os:26.0", "6"), ("model:iPhone17,1", "7"),
        ])

    @Test func `records have these bytes`() throws {
        #expect(Self.small.bytes(names: AttributeNames()) == [1, 0, 0, 0, 0, 1, 120, 0])
        let expected: [UInt8] =
            [1, 0x80, 0xF7, 0xC4, 0xD5, 0x06, 0xED, 0xA1, 0x01, 0x7F, 2, 3, 4, 5, 6, 7]
            + [2, 1, 0xAB, 0x02] + [3] + Array("d-1".utf8) + [3] + Array("u-7".utf8)
            + [2, 0, 0, 3, 1, 2, 3] + [1, 0xAC, 0x02, 1, 4]
        #expect(Self.full.bytes(names: Self.names) == expected)
    }

    @Test func `a record with reachability and network has two bytes of flags`() throws {
        let record = DeviceRecord(
            id: "x", user: "u", addresses: [], tags: [],
            details: [.lang: "ja", .reachability: "force_quit", .network: "wifi"], registered: 0,
            lastSeenDay: 0)
        let names = AttributeNames(
            fields: [("lang:ja", "3"), ("reachability:force_quit", "4"), ("network:wifi", "300")])
        let bytes = try #require(record.bytes(names: names))
        #expect(bytes == [1, 0, 0, 0xC2, 0x03, 3, 4, 0xAC, 0x02, 0, 1, 120, 1, 117, 0])
        #expect(try DeviceRecord(bytes: bytes, names: names) == record)
        #expect(try RecordAddresses(bytes: bytes).user == "u")
    }

    @Test(arguments: [full, small]) func `reading a record's bytes gives the record`(record: DeviceRecord)
        throws
    {
        let bytes = try #require(record.bytes(names: Self.names))
        #expect(try DeviceRecord(bytes: bytes, names: Self.names) == record)
    }

    @Test func `every shorter form of a record's bytes is an error, and so is a longer one`() throws {
        let bytes = try #require(Self.full.bytes(names: Self.names))
        for count in bytes.indices {
            #expect(throws: DeviceRecordError.self) {
                try DeviceRecord(bytes: bytes[..<count], names: Self.names)
            }
        }
        #expect(throws: DeviceRecordError.length) { try DeviceRecord(bytes: bytes + [0], names: Self.names) }
    }

    @Test(
        arguments: [
            ([UInt8](), DeviceRecordError.length),
            ([2, 0, 0, 0, 0, 1, 120, 0], .version(2)),
            ([1, 0x80, 0, 0, 0, 0, 1, 120, 0], .value(.number)),
            ([1] + [UInt8](repeating: 0xFF, count: 20), .value(.number)),
            ([1, 0, 0, 0x80], .length),
            ([1, 0, 0, 0x80, 0x04, 0, 1, 120, 0], .value(.flags)),
            ([1, 0, 0, 1, 9], .unknownName(9)),
            ([1, 0, 0, 1, 1], .value(.name)),
            ([1, 0, 0, 0, 1, 0], .value(.tags)),
            ([1, 0, 0, 0, 0, 0], .value(.text)),
            ([1, 0, 0, 0, 0, 1, 0xFF, 0], .value(.text)),
            ([1, 0, 0, 0, 0, 1, 120, 9], .value(.number)),
            ([1, 0, 0, 0, 0, 1, 120, 1, 0x0E, 0, 1, 1], .value(.service)),
            ([1, 0, 0, 0, 0, 1, 120, 1, 0xF0, 0, 1, 1], .value(.kind)),
            ([1, 0, 0, 0, 0, 1, 120, 1, 0, 0, 0], .value(.address)),
        ] as [([UInt8], DeviceRecordError)])
    func `bytes that are not a record are refused with the field`(bytes: [UInt8], error: DeviceRecordError) {
        #expect(throws: error) { try DeviceRecord(bytes: bytes, names: Self.names) }
    }

    @Test func `changed bytes never trap, and give a record with these bytes or an error`() throws {
        var random = SplitMix(seed: 21)
        let bytes = try #require(Self.full.bytes(names: Self.names))
        var read = 0
        for _ in 0..<20_000 {
            var changed = bytes
            for _ in 0...random.int(in: 0...3) {
                let index = random.int(in: 0...changed.count - 1)
                switch random.int(in: 0...2) {
                case 0: changed[index] = UInt8(truncatingIfNeeded: random.next())
                case 1: changed.insert(UInt8(truncatingIfNeeded: random.next()), at: index)
                default: changed.remove(at: index)
                }
            }
            guard let record = try? DeviceRecord(bytes: changed, names: Self.names) else { continue }
            read += 1
            let again = try #require(record.bytes(names: Self.names))
            #expect(try DeviceRecord(bytes: again, names: Self.names) == record)
        }
        #expect(read > 100)
    }

    @Test func `a record with a name that the dictionary lacks has no bytes`() {
        #expect(Self.full.bytes(names: AttributeNames()) == nil)
    }

    @Test func `a registration keeps the first time, and renews the times of its addresses`() {
        let fields = DeviceFields(
            id: "d-1", addresses: [DeviceAddress(bytes: [1, 2, 3]), DeviceAddress(bytes: [9])],
            tags: ["b", "a", "b"])
        let record = DeviceRecord(fields, replacing: Self.full, now: 1_790_086_400)
        #expect(record.registered == 1_790_000_000)
        #expect(record.addresses.map(\.since) == [1_790_086_400, 1_790_086_400])
        let soon = DeviceRecord(fields, replacing: Self.full, now: 1_790_000_059)
        #expect(soon.addresses.map(\.since) == [1_790_000_000, 1_790_000_059])
        #expect(record.lastSeenDay == 20_718)
        #expect(record.tags == ["a", "b"])
        #expect(record.user == nil && record.zone == nil)
    }

    @Test func `attributes are what segments ask for`() {
        let names = Self.full.attributes(SeenBitmaps()).map(\.text).sorted()
        #expect(
            names == [
                "alive", "app:4.1", "environment:production", "environment:sandbox", "lang:ja",
                "model:iPhone17,1", "os:26.0", "platform:ios", "seen:20717", "service:apns", "tag:news",
                "tag:sport", "zone:Asia/Tokyo",
            ])
        #expect(Self.small.attributes(SeenBitmaps()).map(\.text) == ["seen:0"])
    }

    @Test func `a tag that starts with a combining character is read back`() throws {
        var names = AttributeNames()
        let record = DeviceRecord(
            id: "d", user: nil, addresses: [], tags: ["\u{301}x"], details: [:], registered: 5, lastSeenDay: 0
        )
        _ = names.add(.tag("\u{301}x"))
        let bytes = try #require(record.bytes(names: names))
        #expect(try DeviceRecord(bytes: bytes, names: names) == record)
    }
}
