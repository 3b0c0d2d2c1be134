import Campaigns
import PushModel
import RandomTesting
import Scheduling
import Testing

struct CampaignParserFuzzTests {
    private static let text = """
        {"id":"ed-1","segment":"tag:abo & !tag:muted","translations":{"de":{"aps":{"alert":"{{id}}"}},"default":{"aps":{}}},
        "push_type":"alert","priority":5,"ttl":"1h","start_at":"2026-11-24","window":{"from":"03:00","to":"06:00","zone":"device"},
        "zone":"Europe/Berlin","spread":"20m","avoid":[0,30],"cohorts":8,"stages":["1 %",{"share":"10%","wait":"30m"},"100 %"],
        "repeat":{"every":"25m","until":"done","max":4},"fallback":{"payload":{"aps":{"mutable-content":1}}}}
        """

    /// Damaged definitions must be read or refused, and their jobs written or refused, without the end of the process.
    @Test(arguments: UInt64(1)...10) func `a damaged definition is read or refused`(seed: UInt64) {
        var random = SplitMix(seed: seed)
        let parts = [
            "{", "}", "[", "]", ":", ",", "\"", "-", "9999999999999999999999", "1e999", "null", "true", "%",
            "\\u0000",
            "device", "0 %", "31d", "24:00", "{{", "}}", "\u{FF}", "é",
        ]
        let rules = CampaignJob.Rules(
            app: "news", topic: "com.example.news", limits: JobLimits(), now: 1_790_000_000)
        let parser = CampaignParser(zones: TestZones.rules)
        var read = 0
        for _ in 0..<300 {
            var bytes = Array(Self.text.utf8)
            for _ in 0...random.int(in: 0...2) {
                let place = random.int(in: 0...bytes.count - 1)
                let end = min(bytes.count, place + random.int(in: 0...4))
                bytes.replaceSubrange(
                    place..<end, with: Array(parts[random.int(in: 0...parts.count - 1)].utf8))
            }
            do throws(CampaignError) {
                let campaign = try parser.parse(bytes)
                read += 1
                let device = CampaignDevice(token: [1], lang: "de", values: [("id", .text("\u{0}\""))])
                _ = CampaignJob(campaign, id: "c").text(for: [device], isFallback: true)
                try CampaignJob.check(campaign, rules: rules)
            } catch {
                #expect((0...bytes.count).contains(error.position), "\(error)")
            }
        }
        #expect(read > 0)
    }
}
