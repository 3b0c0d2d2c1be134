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
            .model: "iPhone17,1",
        ])

    private func text(_ record: DeviceRecord, _ format: DeviceFileFormat, times: Bool = false) throws
        -> String
    {
        String(
            decoding: try DeviceFileWriter(format: format, hasTimes: times).line(of: record), as: UTF8.self)
    }

    @Test func `a line of NDJSON has all fields of a registration`() throws {
        #expect(
            try text(Self.full, .ndjson) == """
                {"id":"d-1","token":"\(Self.token(1))","service":"apns","environment":"production","kind":"app",\
                "user":"u\\"1","tags":["a","b"],"zone":"Europe/Berlin","lang":"de","platform":"ios","app":"2.4",\
                "os":"26.1","model":"iPhone17,1"}

                """)
        #expect(
            try text(.made(2, addresses: 2), .ndjson) == """
                {"id":"d-2","addresses":[{"token":"\(Self.token(2))","service":"apns",\
                "environment":"production","kind":"app"},{"token":"\(Self.token(2, 1))","service":"apns",\
                "environment":"sandbox","kind":"app"}]}

                """)
        #expect(try text(.made(3, addresses: 0), .ndjson) == "{\"id\":\"d-3\",\"addresses\":[]}\n")
    }

    @Test func `a record of CSV has quotes where they are needed`() throws {
        #expect(
            DeviceFileWriter(format: .csv, hasTimes: false).header
                == "id,token,service,environment,kind,user,tags,zone,lang,platform,app,os,model")
        #expect(
            try text(Self.full, .csv) == """
                d-1,\(Self.token(1)),apns,production,app,"u""1",a b,Europe/Berlin,de,ios,2.4,26.1,"iPhone17,1"

                """)
        #expect(try text(.made(3, addresses: 0), .csv) == "d-3,,,,,,,,,,,,\n")
        let odd = DeviceRecord(
            id: "# line 1", user: "a\nb", addresses: Self.full.addresses, tags: [String](), details: [:],
            registered: 0, lastSeenDay: 0)
        #expect(
            try text(odd, .csv) == "\"# line 1\",\(Self.token(1)),apns,production,app,\"a\nb\",,,,,,,\n")
    }

    @Test func `the times are written on demand`() throws {
        let json = try text(Self.full, .ndjson, times: true)
        #expect(json.contains(#""since":1700000001"#) && json.contains(#""registered":1700000001"#))
        #expect(json.hasSuffix(#""seen":"2024-10-04"}"# + "\n"), "\(json)")
        #expect(DeviceFileWriter(format: .csv, hasTimes: true).header?.hasSuffix("registered,seen") == true)
        #expect(try text(Self.full, .csv, times: true).hasSuffix(",1700000001,2024-10-04\n"))
    }

    /// Devices with every field, with several addresses, and with few fields.
    private static let importable: [DeviceRecord] = [
        full, .made(2, tags: ["x"], addresses: 8), .made(3), .made(4, user: "\u{1F600}\"\\,", addresses: 2),
    ]

    @Test(arguments: importable) func `the import reads a line of NDJSON as the device's registration`(
        record: DeviceRecord
    ) throws {
        let line = try DeviceFileWriter(format: .ndjson, hasTimes: false).line(of: record)
        let fields = DeviceFields(
            id: record.id, addresses: record.addresses.map(\.address), user: record.user, tags: record.tags,
            zone: record.zone, lang: record.lang, platform: record.platform, app: record.app, os: record.os,
            model: record.model)
        #expect(try DeviceInputParser.parse(line) == .set(fields))
    }

    @Test func `a record of CSV is read as the same cells`() throws {
        let record = DeviceRecord.made(4, user: "a\"\n,;\t b", tags: ["x", "y"])
        let line = try DeviceFileWriter(format: .csv, hasTimes: false).line(of: record)
        let read = try line.withUnsafeBytes {
            try CSVRecord($0, from: 0, separator: UInt8(ascii: ","), isAtEnd: true)
        }
        let cells = [
            "d-4", Self.token(4), "apns", "production", "app", "a\"\n,;\t b", "x y", "", "", "", "", "", "",
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
