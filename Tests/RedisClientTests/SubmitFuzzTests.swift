import FarmHarness
import Foundation
import RandomTesting
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// Submits damaged jobs, and compares the function in Redis with the farm's parser.
struct SubmitFuzzTests {
    /// The function may accept a job that the parser refuses. But it must not refuse a job that the parser accepts.
    @Test func `a job that the farm's parser accepts is never refused`() throws {
        let submission = try SubmitTests()
        try submission.configure("demo")
        let seeds = try Self.seeds
        #expect(seeds.count > 10)
        var random = SplitMix(seed: 1319)
        var (accepted, refused, both) = (0, 0, 0)
        for round in 0..<6000 {
            var bytes = seeds[round % seeds.count]
            if round >= seeds.count { Self.damage(&bytes, &random) }
            let isTaken = (try? SubmitTests.parse(bytes)) != nil
            let reply = try submission.submit(bytes)
            if case .refused(let reason) = reply {
                refused += 1
                #expect(!isTaken, "\(reason): \(String(decoding: bytes, as: UTF8.self).prefix(300))")
                if !isTaken { both += 1 }
            } else if isTaken {
                accepted += 1
            }
            if round.isMultiple(of: 200) { try submission.fixture.redis.run("DEL", "pushfarm:demo") }
        }
        #expect(accepted > 200 && refused > 200 && both == refused, "\(accepted) \(refused)")
    }

    /// The jobs of the fuzzer's corpus, and jobs that contain each field.
    private static var seeds: [[UInt8]] {
        get throws {
            let token = SubmitTests.token
            let folder = Repository.root.appending(path: "Tests/Tools/Fuzzing/Corpora/job")
            let files = try FileManager.default.contentsOfDirectory(
                at: folder, includingPropertiesForKeys: nil)
            let fields = [
                #""id":"a","lane":"bulk","ttl":60"#, #""expires_at":4000000000,"topic":"com.example.demo""#,
                #""deliver_at":1,"receipts":"all","delivery":"at-most-once","max_attempts":3"#,
                #""registered_at":1700000000,"replay_of":"b","app":"demo","priority":5,"collapse_id":"c""#,
            ]
            return try files.map { Array(try Data(contentsOf: $0)) }
                + fields.map { Array(SubmitTests.job($0).utf8) }
                + [
                    #"{"pushes":[{"token":"\#(token)","payload":{}}],"push_type":"background"}"#,
                    #"{"pushes":[{"token":"\#(token)","values":{"n":1},"ttl":5}],"payload":{"a":"{{n}}"}}"#,
                    #"{"pushes":[{"token":"\#(token)","lang":"de"}],"translations":{"de":{},"default":{}}}"#,
                    #"{"\u0074okens":["]","\#(token)",null,7,[]],"payload":{"a":[{}]}}"#,
                ].map { Array($0.utf8) }
        }
    }

    /// Changes, repeats or removes a few bytes of a job, or inserts words that occur in jobs.
    private static func damage(_ bytes: inout [UInt8], _ random: inout SplitMix) {
        let day = Date().addingTimeInterval(-Double.random(in: 0...3, using: &random) * 86_400)
            .ISO8601Format().prefix(10)
        let words = [
            "null", "true", "{}", "[]", "\"", ",", ":", "}", "]", "\\u0074", "\"ttl\":1,",
            "\"app\":\"demo\",", "1e3",
            "-1", "\"pushes\":[],", " ", "\t", "\u{E9}", "\"expires_at\":5,",
            "\"expires_at\":\"\(day)T23:59:59-12:00\",", "\"payload\":{},", "864000",
        ]
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let at = Int.random(in: 0...bytes.count, using: &random)
            let end = min(bytes.count, at + Int.random(in: 0...4, using: &random))
            switch Int.random(in: 0..<3, using: &random) {
            case 0: bytes.removeSubrange(at..<end)
            case 1: bytes.insert(contentsOf: bytes[at..<end], at: at)
            default:
                bytes.replaceSubrange(at..<end, with: Array((words.randomElement(using: &random) ?? "").utf8))
            }
        }
    }
}
