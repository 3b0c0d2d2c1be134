import RandomTesting
import Testing

@testable import PushModel

struct JobFuzzTests {
    static let seeds: [String] = [
        JobText.with(
            "\"id\":\"order-4711\",\"ttl\":3600,\"collapse_id\":\"o\",\"lane\":\"bulk\",\"max_attempts\":3"),
        JobText.with(
            "\"push_type\":\"voip\",\"topic\":\"a.voip\",\"expires_at\":1780000100,\"receipts\":\"none\""),
        #"{"tokens":["\#(JobText.token)","aabbccddeeff0011","x",null],"payload":{"aps":{}},"#
            + #""push_type":"background"}"#,
        #"{"pushes":[{"token":"\#(JobText.token)","payload":{"aps":{"alert":"é😀"}}},"#
            + #"{"token":"aabbccddeeff0011","payload":{}}],"id":"\u00e9","delivery":"at-most-once","#
            + #""registered_at":1770000000}"#,
        #"{"pushes":[{"token":"\#(JobText.token)","values":{"n":"é\"","m":1},"collapse_id":"c"},"#
            + #"{"token":"aabbccddeeff0011","ttl":5}],"payload":{"aps":{"alert":"Hi {{n|you}}"},"b":"{{=m|0}}"}}"#,
        #"{"pushes":[{"token":"\#(JobText.token)","lang":"de-AT","values":{"n":true}},"#
            + #"{"token":"aabbccddeeff0011"}],"translations":{"de":{"a":"{{n}}"},"default":{"a":"{{{{"}}}"#,
    ]

    static func check(_ job: ParsedJob) throws {
        #expect(job.submitted == job.accepted + job.duplicates + job.malformed.count)
        #expect(job.submitted > 0 || job.unknownRecipients > 0 || (job.capped ?? 0) > 0)
        for (number, push) in job.pushes.enumerated() {
            #expect(JobLimits.tokenBytes.contains(job.tokenBytes[push.token].count))
            let payload = try PersonalPushTests.payload(of: number, in: job)
            #expect(payload.first == UInt8(ascii: "{") && payload.last == UInt8(ascii: "}"))
            #expect(JSONConformanceTests.accepts(payload))
        }
        for push in job.malformed { #expect(job.text(of: push).utf8.count <= 200) }
    }

    @Test func `damaged jobs are refused with a valid position or are consistent`() throws {
        var random = SplitMix(seed: 4711)
        var (accepted, refused) = (0, 0)
        for round in 0..<20_000 {
            var bytes = Array(Self.seeds[round % Self.seeds.count].utf8)
            JSONFuzzTests.mutate(&bytes, &random)
            let job: ParsedJob?
            do throws(JobError) {
                job = try JobParser.parse(bytes, app: "demo", topic: "com.example.demo", now: JobText.now)
                accepted += 1
            } catch {
                job = nil
                #expect((0...bytes.count).contains(error.position))
                #expect(!error.reason.isEmpty && !error.description.contains(JobText.token))
                #expect(UTF8Text.isValid(error.reason))
                refused += 1
            }
            if let job { try Self.check(job) }
        }
        #expect(accepted > 1000 && refused > 5000)
    }

    @Test func `every truncation of a job is refused`() {
        for text in Self.seeds {
            let bytes = Array(text.utf8)
            for length in 0..<bytes.count {
                #expect(throws: JobError.self) {
                    try JobParser.parse(Array(bytes[..<length]), app: "demo", topic: "t", now: 0)
                }
            }
        }
    }

    @Test func `the order of members has no effect`() throws {
        var random = SplitMix(seed: 12)
        let fields = [
            "\"id\":\"a\"", "\"tokens\":[\"\(JobText.token)\"]", "\"payload\":{\"aps\":{}}",
            "\"push_type\":\"background\"",
            "\"priority\":5", "\"ttl\":60", "\"lane\":\"bulk\"", "\"topic\":\"x.y\"",
        ]
        let options = try JobText.parse("{" + fields.joined(separator: ",") + "}").options
        for _ in 0..<100 {
            let job = try JobText.parse("{" + fields.shuffled(using: &random).joined(separator: ",") + "}")
            #expect(job.options == options && job.accepted == 1 && job.lane == .bulk)
        }
    }
}

extension UTF8Text {
    static func isValid(_ text: String) -> Bool { Array(text.utf8).withUnsafeBytes(isValid) }
}
