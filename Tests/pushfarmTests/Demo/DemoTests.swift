import Campaigns
import PushModel
import Registry
import Scheduling
import Segments
import StoreProtocol
import Testing

@testable import pushfarm

struct DemoTests {
    @Test(arguments: [(1, 0), (1, 1), (999, 10), (2500, 25), (3000, 3000)])
    func `the demo jobs name each push once and contain the given number of bad ones`(pushes: Int, bad: Int)
        throws
    {
        let load = DemoLoad(pushes: pushes, bad: bad)
        var tokens: Set<[UInt8]> = []
        var badTokens = 0
        for number in 0..<load.jobs {
            let job = try JobParser.parse(
                load.text(of: number), app: "demo", topic: "a.b", now: 1_800_000_000)
            #expect(job.id == load.id(of: number))
            #expect(job.duplicates == 0 && job.malformed.isEmpty)
            for push in job.pushes {
                let token = Array(job.tokenBytes[push.token])
                #expect(token.count == 32)
                if token.starts(with: [0xBA, 0xD0, 0x00, 0x00]) { badTokens += 1 }
                tokens.insert(token)
            }
        }
        #expect(tokens.count == pushes)
        #expect(badTokens == bad)
    }

    @Test(arguments: [(1, 0), (30_000, 300), (2_500, 375)])
    func `the devices of a demo are valid, and the audience is counted`(devices: Int, bad: Int) throws {
        let load = CampaignDemoLoad(devices: devices, bad: bad)
        var (ids, zones, audience): (Set<String>, Set<String>, Int) = ([], [], 0)
        for number in 0..<devices {
            let parsed = try DeviceInputParser.parse(
                load.registration(of: number), rules: DeviceInputRules(environment: .sandbox))
            guard case .set(let fields) = parsed else { return #expect(Bool(false), "\(number)") }
            ids.insert(fields.id)
            if let zone = fields.zone { zones.insert(zone) }
            if !fields.tags.contains("muted") { audience += 1 }
        }
        #expect(ids.count == devices && audience == load.audience.all)
        #expect(zones.count == (devices < 100 ? 1 : CampaignDemoLoad.zones.count))
        #expect(load.audience.bad <= bad)
    }

    @Test(arguments: [0, 29, 30, 31, 59]) func `the campaign of a demo is valid in all its zones`(minute: Int)
        throws
    {
        let load = CampaignDemoLoad(devices: 30_000, bad: 0)
        let zones = CampaignZones()
        let campaign = try zones.parser.parse(load.definition(atMinute: minute))
        #expect(campaign.id == CampaignDemoLoad.id)
        #expect(try SegmentExpression(parsing: CampaignDemoLoad.segment.expression) != .all)
        let window = try #require(campaign.schedule.window)
        for zone in CampaignDemoLoad.zones {
            let rules = try #require(zones.rules(zone), "\(zone)")
            // At this minute of each hour, today's or yesterday's window is open for 20 minutes or longer.
            for hour in 0..<48 {
                let now = UTCTime(milliseconds: 1_800_000_000_000 / 3_600_000 * 3_600_000)
                    .adding(milliseconds: Int64(hour * 60 + minute) * 60_000)
                let day = CivilDate(dayNumber: now.milliseconds / 86_400_000)
                let open = (-2...1).map {
                    window.times(on: CivilDate(dayNumber: day.dayNumber + $0), in: rules)
                }
                .contains { $0.contains(now) && $0.contains(now.adding(milliseconds: 1_200_000)) }
                #expect(open, "\(zone), hour \(hour)")
            }
        }
    }

    private func jobRecord(delivered: Int, failed: Int, maybe: Int, gateway: String) throws -> DemoSummary {
        var record = JobRecord(id: "demo-1", app: "demo", state: .finished)
        record.accepted = delivered + failed
        record.delivered = delivered
        record.failed = failed
        record.maybeDuplicated = maybe
        record.reasons = failed > 0 ? ["BadDeviceToken": failed] : [:]
        var jobRecord = DemoSummary(
            load: DemoLoad(pushes: 100, bad: 10), gateway: try #require(GatewayCount(json: gateway)))
        jobRecord.time = .seconds(2)
        jobRecord.add(record)
        return jobRecord
    }

    @Test func `the demo succeeds when job records and gateway agree`() throws {
        let gateway = #"{"accepted":90,"distinct_tokens":90,"repeated_ids":0,"other":1}"#
        let jobRecord = try jobRecord(delivered: 90, failed: 10, maybe: 0, gateway: gateway)
        #expect(jobRecord.faults == [])
        #expect(jobRecord.rate == 50)
        #expect(jobRecord.text(TextStyle()).hasSuffix("It adds up.\n"))
    }

    @Test(arguments: [
        (90, 10, 0, #"{"accepted":89,"distinct_tokens":89,"repeated_ids":0}"#, "1 devices got no push"),
        (
            90, 10, 0, #"{"accepted":91,"distinct_tokens":90,"repeated_ids":1}"#,
            "1 duplicated, but only 0 are recorded"
        ),
        (
            90, 10, 2, #"{"accepted":91,"distinct_tokens":90,"repeated_ids":0}"#,
            "1 duplicated, but 0 with the same apns-id"
        ),
        (89, 11, 0, #"{"accepted":90,"distinct_tokens":90,"repeated_ids":0}"#, "89 delivered, 90 expected"),
    ])
    func `the demo reports each difference`(
        delivered: Int, failed: Int, maybe: Int, gateway: String, fault: String
    ) throws {
        let jobRecord = try jobRecord(delivered: delivered, failed: failed, maybe: maybe, gateway: gateway)
        #expect(jobRecord.faults.contains(fault), "\(jobRecord.faults)")
        #expect(!jobRecord.text(TextStyle()).contains("It adds up"))
    }
}
