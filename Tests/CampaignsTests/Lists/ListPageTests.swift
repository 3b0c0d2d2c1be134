import Campaigns
import PushModel
import RandomTesting
import Testing

struct ListPageTests {
    private static let zones: [String?] = ["Europe/Berlin", nil, "Asia/Tokyo"]

    private static func token(_ number: Int) -> String {
        String(repeating: "0", count: 16 - String(number).count) + String(number)
    }

    private static func row(_ number: Int) throws -> ParsedListRow {
        let zone = zones[number % 3].map { ",\"zone\":\"\($0)\"" } ?? ""
        let lang = number.isMultiple(of: 5) ? ",\"lang\":\"de\"" : ""
        return try ListRowParser(ListRowParser.Columns(), zoneFault: { _ in nil }).parse(
            Array("{\"token\":\"\(token(number))\",\"n\":\(number)\(zone)\(lang)}".utf8))
    }

    /// Puts pieces into pages as Redis does.
    private static func store(_ pieces: [ListPiece], in pages: inout [[Int]: [UInt8]]) {
        for piece in pieces {
            var page = pages[[piece.group, piece.page]] ?? []
            #expect(page.count == piece.offset, "a piece that leaves a gap or overwrites")
            page += piece.bytes
            pages[[piece.group, piece.page]] = page
        }
    }

    @Test(arguments: [1, 100, 100_000]) func `rows are stored in groups and pages, in any pieces`(
        pause: Int
    ) throws {
        var builder = ListBuilder()
        var pages: [[Int]: [UInt8]] = [:]
        for number in 0..<3_000 {
            try builder.add(Self.row(number))
            if number.isMultiple(of: 7) { try builder.add(Self.row(number / 2)) }
            Self.store(builder.takeFinished(), in: &pages)
            if number.isMultiple(of: pause) {
                Self.store(builder.takeAll(), in: &pages)
                #expect(builder.openBytes == 0)
            }
        }
        Self.store(builder.takeAll(), in: &pages)
        #expect(builder.rows == 3_000 && builder.duplicates == 429)
        #expect(builder.listGroups == Self.zones.map { UploadedList.Group(zone: $0, rows: 1_000) })
        #expect(builder.listColumns == [UploadedList.Column(name: "n", rows: 3_000, longest: 4)])
        #expect(pages.count == 3 * 4)
        let read = pages.mapValues { ListPage(bytes: $0).rows }
        for number in 0..<3_000 {
            let (group, ordinal) = (number % 3, number / 3)
            let row = read[[group, ordinal / ListPage.size]]?[ordinal % ListPage.size]
            try BrokenInvariant.unless(try row == Self.row(number).row, "row \(number)")
        }
        #expect(read[[0, 3]]?.count == 1_000 - 3 * ListPage.size)
    }

    @Test func `the rows of a page are pushes of a job as they stand`() throws {
        let rows = try (0..<6).map { try Self.row($0).row }
        for (message, languages) in [
            ("\"payload\":{\"aps\":{\"badge\":\"{{=n|0}}\"}}", 0),
            (
                "\"translations\":{\"de\":{\"aps\":{\"alert\":\"{{n|0}}\"}},\"default\":{\"aps\":{}}}", 2
            ),
        ] {
            let definition = try campaign("{\"segment\":\"a\",\(message)}")
            let text = CampaignJob(definition, id: "c").text(for: rows.map { .row($0) })
            let job = try JobParser.parse(
                text, app: "news", topic: "com.example.news", now: 1_800_000_000)
            #expect(job.accepted == 6)
            #expect(String(decoding: text, as: UTF8.self).split(separator: "\"lang\"").count == languages + 1)
        }
    }

    /// A row that can be read is one push of a job, whatever the bytes of its page were.
    @Test func `no bytes of a page trap, or become anything but whole rows`() throws {
        var random = SplitMix(seed: 21)
        var builder = ListBuilder()
        for number in 0..<40 { try builder.add(Self.row(number * 3)) }
        let whole = builder.takeAll()[0].bytes
        for _ in 0..<3_000 {
            var bytes = Array(whole.prefix(random.int(in: 0...whole.count)))
            for _ in 0..<random.int(in: 0...4) where !bytes.isEmpty {
                bytes[random.int(in: 0...bytes.count - 1)] = UInt8(random.int(in: 0...255))
            }
            let rows = ListPage(bytes: bytes).rows
            try BrokenInvariant.unless(rows.count <= ListPage.size, "\(rows.count) rows")
            for row in rows.compactMap({ $0 }) {
                try BrokenInvariant.unless(row.lang.map(JobLimits.isLanguage) ?? true, "a wrong language")
                try row.push.withUnsafeBytes { bytes in
                    try BrokenInvariant.unless(bytes.first == UInt8(ascii: "{"), "not an object")
                    try JSONScanner.validate(bytes)
                }
            }
        }
        #expect(ListPage(bytes: whole).rows.compactMap(\.self).count == 40)
    }
}
