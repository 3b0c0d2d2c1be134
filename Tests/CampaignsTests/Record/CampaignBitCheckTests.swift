import Campaigns
import Segments
import Testing
import Variants

struct CampaignBitCheckTests {
    /// Three devices of the first round have bits, and two of them are done. One more device was excluded at the round's end.
    private static let fields = [
        "state": "finished", "audience:1": "4", "accepted:1": "1", "merged:1": "1", "capped:1": "1",
        "excluded:1": "1", "unhandled:1": "1", "done": "2", "rewarded": "1", "pulls:a": "1",
        "pulls:@holdout": "1",
    ]
    private static let bits: [CampaignBitCheck.Bitmap: [UInt8]] = {
        var assigned = VariantAssignment()
        _ = assigned.assign(3, to: .variant(0))
        _ = assigned.assign(5, to: .holdout)
        return [
            .sent(round: 1): OrdinalChunk([3, 5, 9]).bytes, .done: OrdinalChunk([3, 5]).bytes,
            .rewarded: OrdinalChunk([3]).bytes, .assigned: assigned.bytes,
        ]
    }()

    private static func record(_ changes: [String: String] = [:]) -> CampaignRecord {
        CampaignRecord(fields: fields.merging(changes) { $1 }.mapValues { Array($0.utf8) })
    }

    private static func faults(
        _ first: CampaignRecord, _ second: CampaignRecord, _ bits: [CampaignBitCheck.Bitmap: [UInt8]] = bits
    ) -> [String] {
        var check = CampaignBitCheck("c", first)
        for bitmap in check.bitmaps {
            // The second chunk has no bits.
            check.add(bits[bitmap], of: bitmap, in: AudienceChunk(partition: 2, number: 0))
            check.add(nil, of: bitmap, in: AudienceChunk(partition: 2, number: 1))
        }
        return check.faults(second)
    }

    @Test func `counts that agree with the bits are no fault`() {
        #expect(Self.faults(Self.record(), Self.record()) == [])
    }

    @Test(arguments: [
        ("accepted:1", "2", "4 devices that round 1 has handled, and the bitmaps have 3"),
        ("merged:1", "0", "2 devices that round 1 has handled, and the bitmaps have 3"),
        ("capped:1", "3", "5 devices that round 1 has handled, and the bitmaps have 3"),
        ("unhandled:1", "0", "4 devices that round 1 has handled, and the bitmaps have 3"),
        ("unsendable:2", "1", "1 devices that round 2 has handled, and the bitmaps have 0"),
        ("done", "3", "3 devices that are done, and the bitmaps have 2"),
        ("rewarded", "0", "0 devices with a reward, and the bitmaps have 1"),
        ("pulls:b", "1", "3 devices with a variant, and the bitmaps have 2"),
    ])
    func `a count that differs from the bits is a fault`(field: String, value: String, text: String) {
        let record = Self.record([field: value, "state": "running"])
        #expect(Self.faults(record, record) == ["campaign c: the record counts \(text)"])
    }

    @Test func `the audience of a finished round is the sum of its other counts`() {
        let record = Self.record(["audience:1": "5"])
        #expect(
            Self.faults(record, record) == [
                "campaign c: round 1 has an audience of 5, and its other counts have the sum 4"
            ])
        let running = Self.record(["audience:1": "5", "state": "running"])
        #expect(Self.faults(running, running) == [])
    }

    @Test func `while a campaign runs, the bits are between the counts before and after`() {
        let running = ["state": "running"]
        func record(_ accepted: Int, _ done: Int) -> CampaignRecord {
            Self.record(running.merging(["accepted:1": "\(accepted)", "done": "\(done)"]) { $1 })
        }
        #expect(Self.faults(record(0, 0), record(1, 2)) == [])
        #expect(Self.faults(record(1, 2), record(5, 9)) == [])
        #expect(
            Self.faults(record(2, 2), record(4, 2)) == [
                "campaign c: the record counts 4 to 6 devices that round 1 has handled, and the bitmaps have 3"
            ])
        #expect(Self.faults(record(-1, 0), record(0, 1)).count == 2)
        // A round that begins during the check.
        let begun = Self.record(running.merging(["accepted:2": "7"]) { $1 })
        var bits = Self.bits
        bits[.sent(round: 2)] = OrdinalChunk(0..<7).bytes
        #expect(Self.faults(Self.record(running), begun, bits) == [])
        bits[.sent(round: 2)] = OrdinalChunk(0..<8).bytes
        #expect(Self.faults(Self.record(running), begun, bits).count == 1)
    }

    @Test func `counts that fell during the check make it outdated`() {
        let check = CampaignBitCheck("c", Self.record())
        #expect(!check.isOutdated(by: Self.record()))
        #expect(
            !check.isOutdated(by: Self.record(["accepted:1": "9", "excluded:1": "2", "unhandled:1": "2"])))
        #expect(check.isOutdated(by: Self.record(["accepted:1": "0"])))
        #expect(check.isOutdated(by: Self.record(["done": "1"])))
    }

    @Test func `bitmaps that cannot be read are faults`() {
        var bits = Self.bits
        bits[.done] = [1]
        bits[.assigned] = [1]
        let faults = Self.faults(Self.record(), Self.record(), bits)
        #expect(
            faults.prefix(2) == [
                "campaign c: the bitmap done of partition 2, chunk 0 cannot be read",
                "campaign c: the bitmap assigned of partition 2, chunk 0 cannot be read",
            ])
        #expect(faults.count == 4)
    }

    @Test func `a damaged record asks for few bitmaps`() {
        let check = CampaignBitCheck("c", Self.record(["accepted:999999999": "1"]))
        #expect(check.bitmaps.count < 200)
    }
}
