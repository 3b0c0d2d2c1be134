import Campaigns
import RandomTesting
import Testing

struct CampaignRecordTests {
    @Test func `reads the fields of the hash`() {
        let fields = [
            "state": "running", "definition": "{}", "created_at": "1000", "created_by": "ann",
            "started_at": "2000",
            "step": "7", "audience_ends": "10 0 65537", "rate": "12.5", "released": "1", "audience:1": "9",
            "accepted:1": "5",
            "accepted:2": "3", "done": "4", "reason": "why",
        ].mapValues { Array($0.utf8) }
        let record = CampaignRecord(fields: fields)
        #expect(record.state == .running)
        #expect(record.definition == Array("{}".utf8))
        #expect((record.createdAt, record.startedAt, record.finishedAt) == (1000, 2000, nil))
        #expect((record.step, record.released, record.done) == (7, 1, 4))
        #expect(record.audienceEnds == [10, 0, 65_537])
        #expect(CampaignRecord.text(ofAudienceEnds: record.audienceEnds) == "10 0 65537")
        #expect(record.rate == 12.5)
        #expect(record.counts[.audience, 1] == 9)
        #expect(record.counts.total(.accepted) == 8)
        #expect(record.counts.rounds == 2)
        #expect(record.progress == nil)
    }

    @Test func `an empty or damaged record has defaults`() {
        let wrong = CampaignRecord(
            fields: Dictionary(
                uniqueKeysWithValues: CampaignRecord.Field.allCases.map { ($0.rawValue, [0xFF, 0x2D, 0x31]) })
        )
        #expect(wrong.state == nil)
        #expect((wrong.step, wrong.done, wrong.released) == (0, 0, 0))
        #expect(wrong.rate == nil)
        #expect(wrong.audienceEnds == [])
        #expect(CampaignRecord(fields: [:]).counts.isEmpty)
    }

    /// Random bytes and damaged texts must not end the process.
    @Test func `foreign progress is read or refused`() throws {
        let text = """
            {"groups":[{"zone":"UTC","round":2,"rounds":4,"stage":0,"counted":10,"handled":3,"began":5,"planned_end":6,
            "needed":7,"sweeps":0,"cursor":[1,2,3,4],"marks":[[0,0,0,5,9],[1,0,0,5,99]],"earlier_marks":[]}]}
            """
        #expect(CampaignProgress(json: Array(text.utf8)) != nil)
        var random = SplitMix(seed: 5)
        for _ in 0..<20_000 {
            var bytes = Array(text.utf8)
            for _ in 0...random.int(in: 0...3) {
                let digits = Array("0123456789-,[]{}\":eE.".utf8)
                bytes[random.int(in: 0...bytes.count - 1)] = digits[random.int(in: 0...digits.count - 1)]
            }
            if let progress = CampaignProgress(json: bytes) {
                #expect(CampaignProgress(json: progress.json) == progress)
            }
        }
    }

    @Test func `a state that is final has no next state, and others can be cancelled`() {
        for state in CampaignState.allCases {
            #expect(state.isFinal == [.finished, .cancelled, .refused].contains(state))
            #expect(state.canBecome(.cancelled) == !state.isFinal)
            #expect(!state.canBecome(.draft))
        }
        #expect(!CampaignState.finished.canBecome(.running))
        #expect(CampaignState.draft.canBecome(.running))
    }
}
