import Campaigns
import RandomTesting
import Segments
import Testing

struct UploadedListTests {
    private static let list = UploadedList(
        name: "fans", version: "cli-1", state: .ready, by: "ada", at: 5, expiresAt: 9,
        groups: [
            UploadedList.Group(zone: "Asia/Tokyo", rows: 70_000), UploadedList.Group(zone: nil, rows: 3),
            UploadedList.Group(zone: "UTC", rows: 65_536),
        ], columns: [UploadedList.Column(name: "name", rows: 12, longest: 40)], duplicates: 4, refused: 2)

    @Test func `a list is read as it was written`() throws {
        #expect(UploadedList(name: "fans", json: Self.list.json) == Self.list)
        #expect(Self.list.rows == 135_539)
        #expect(Self.list.groups.map(\.pages) == [274, 1, 256])
    }

    @Test func `a value that is not a list is not read`() {
        for text in [
            "", "[]", "{}", #"{"version":"v"}"#, #"{"version":"v","state":"half"}"#,
            #"{"version":"a:b","state":"ready"}"#, #"{"version":"","state":"ready"}"#,
            #"{"version":"v","state":"ready","groups":[{"rows":99999999}]}"#,
        ] {
            #expect(UploadedList(name: "x", json: Array(text.utf8)) == nil, "\(text)")
        }
        let odd = UploadedList(
            name: "x",
            json: Array(
                #"{"version":"v","state":"ready","groups":[{"rows":-1},7],"at":"?","more":{}}"#.utf8))
        #expect(odd?.groups.map(\.rows) == [0, 0] && odd?.at == 0)
    }

    @Test func `no damage of a value traps`() {
        var random = SplitMix(seed: 3)
        for _ in 0..<3_000 {
            var bytes = Self.list.json
            for _ in 0..<random.int(in: 1...4) {
                bytes[random.int(in: 0...bytes.count - 1)] = UInt8(random.int(in: 0x20...0x7F))
            }
            _ = UploadedList(name: "x", json: bytes)?.rows
        }
    }

    @Test func `the rows of a zone group are those below its number of rows`() {
        let audience = ListAudience(Self.list)
        #expect(audience.audienceEnds == [70_000, 3, 65_536] && audience.zoneNames == ["Asia/Tokyo", "UTC"])
        func counts(_ members: CampaignGroup.Members) -> [[Int]] {
            (0...3).map { partition in
                (0...2).map { number in
                    let chunk = AudienceChunk(partition: partition, number: number)
                    let rows = audience.members(of: members, in: chunk)
                    #expect(rows.ordinals == Array(0..<UInt16(clamping: rows.count)) || rows.count > 65_535)
                    return rows.count
                }
            }
        }
        let (none, tokyo) = ([0, 0, 0], [65_536, 4_464, 0])
        #expect(counts(.all) == [tokyo, [3, 0, 0], [65_536, 0, 0], none])
        #expect(counts(.zone("Asia/Tokyo")) == [tokyo, none, none, none])
        #expect(counts(.others(than: ["Asia/Tokyo"])) == [none, [3, 0, 0], [65_536, 0, 0], none])
        #expect(
            audience.counts(of: [.all, .zone("UTC"), .others(than: ["UTC", "Asia/Tokyo"])])
                == [135_539, 65_536, 3])
    }
}
