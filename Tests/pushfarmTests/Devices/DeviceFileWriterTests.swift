import PushModel
import Registry
import RegistryTesting
import Testing

@testable import pushfarm

struct DeviceFileWriterTests {
    private static func token(_ number: Int, _ index: Int = 0) -> String {
        Hexadecimal.text(of: DeviceAddress.made(number, index).bytes)
    }

    private static let full = DeviceRecord.made(
        1, user: "u\"1", tags: ["b", "a"],
        details: [
            .zone: "Europe/Berlin", .lang: "de", .platform: "ios", .app: "2.4", .os: "26.1",
            .model: "iPhone17,1", .reachability: "force_quit", .network: "wifi",
        ])

    private func text(_ record: DeviceRecord, _ format: ImportFormat) throws -> String {
        String(
            decoding: try DeviceFileWriter(format: format).line(of: record), as: UTF8.self)
    }

    @Test func `a line of NDJSON has all fields of a registration`() throws {
        #expect(
            try text(Self.full, .ndjson) == """
                {"id":"d-1","token":"\(Self.token(1))","service":"apns","environment":"production","kind":"app",\
                "since":1700000001,"user":"u\\"1","tags":["a","b"],"zone":"Europe/Berlin","lang":"de","platform":"ios","app":"2.4",\
                "os":"26.1","model":"iPhone17,1","reachability":"force_quit","network":"wifi","registered":1700000001,"seen":"2024-10-04"}

                """)
        #expect(
            try text(.made(2, addresses: 2), .ndjson) == """
                {"id":"d-2","addresses":[{"token":"\(Self.token(2))","service":"apns",\
                "environment":"production","kind":"app","since":1700000002},\
                {"token":"\(Self.token(2, 1))","service":"apns","environment":"sandbox","kind":"app",\
                "since":1700000003}],"registered":1700000002,"seen":"2024-10-04"}

                """)
        #expect(
            try text(.made(3, addresses: 0), .ndjson)
                == #"{"id":"d-3","addresses":[],"registered":1700000003,"seen":"2024-10-04"}"# + "\n")
    }

    @Test func `a record of CSV has quotes where they are needed`() throws {
        #expect(
            DeviceFileWriter(format: .csv).header
                == "id,token,service,environment,kind,user,tags,zone,lang,platform,app,os,model,reachability,network,since,registered,seen"
        )
        #expect(
            try text(Self.full, .csv) == """
                d-1,\(Self.token(1)),apns,production,app,"u""1",a b,Europe/Berlin,de,ios,2.4,26.1,"iPhone17,1",force_quit,wifi,\
                1700000001,1700000001,2024-10-04

                """)
        #expect(try text(.made(3, addresses: 0), .csv) == "d-3,,,,,,,,,,,,,,,,1700000003,2024-10-04\n")
        let odd = DeviceRecord(
            id: "# line 1", user: "a\nb", addresses: Self.full.addresses, tags: [String](), details: [:],
            registered: 0, lastSeenDay: 0)
        #expect(
            try text(odd, .csv)
                == "\"# line 1\",\(Self.token(1)),apns,production,app,\"a\nb\",,,,,,,,,,1700000001,0,1970-01-01\n"
        )
    }

    /// Devices with every field, with several addresses, and with few fields.
    private static let importable: [DeviceRecord] = [
        full, .made(2, tags: ["x"], addresses: 8), .made(3), .made(3, addresses: 0),
        .made(4, user: "\u{1F600}\"\\,", addresses: 2),
    ]

    @Test(arguments: importable) func `the import reads a line of NDJSON as the device's registration`(
        record: DeviceRecord
    ) throws {
        let line = try DeviceFileWriter(format: .ndjson).line(of: record)
        let fields = DeviceFields(
            id: record.id, addresses: record.addresses.map(\.address), user: record.user, tags: record.tags,
            zone: record.zone, lang: record.lang, platform: record.platform, app: record.app, os: record.os,
            model: record.model, reachability: record.reachability, network: record.network,
            times: DeviceTimes(
                registered: record.registered, seenDay: record.lastSeenDay,
                since: record.addresses.map(\.since)))
        #expect(try DeviceInputParser.parse(line) == .set(fields))
        let now = Int64(1_800_000_000)
        #expect(DeviceRecord(fields, replacing: nil, now: now) == record)
        #expect(DeviceRecord(fields, replacing: .made(9), now: now).registered == record.registered)
    }

    @Test func `a record of CSV is read as the same cells`() throws {
        let record = DeviceRecord.made(4, user: "a\"\n,;\t b", tags: ["x", "y"])
        let line = try DeviceFileWriter(format: .csv).line(of: record)
        let read = try line.withUnsafeBytes {
            try CSVRecord($0, from: 0, separator: UInt8(ascii: ","), isAtEnd: true)
        }
        let cells = [
            "d-4", Self.token(4), "apns", "production", "app", "a\"\n,;\t b", "x y", "", "", "", "", "", "",
            "", "",
            "1700000004", "1700000004", "2024-10-04",
        ]
        #expect(read.cells == cells.map { Array($0.utf8) } && read.end == line.count)
    }

    @Test(arguments: [
        DeviceRecord.made(1, addresses: 2), .made(1, tags: ["two words"]),
        .made(1, tags: ["a;b"]), .made(1, tags: ["a|b"]), .made(1, tags: ["a,b"]),
    ])
    func `CSV refuses a device that it cannot express`(record: DeviceRecord) {
        #expect(throws: CommandFailure.self) { try text(record, .csv) }
    }
}
