import FarmBench
import Foundation
import PushModel
import Testing

struct PlanTests {
    @Test func `tokens are different and have the right length`() {
        let tokens = (0..<10_000).map(BenchTokens.text)
        #expect(Set(tokens).count == 10_000)
        #expect(tokens.allSatisfy { $0.utf8.count == 64 && $0.allSatisfy(\.isHexDigit) })
        #expect(Set(tokens.map { $0.prefix(6) }).count > 9_000, "their beginnings too")
    }

    @Test func `an alert has 200 bytes and is JSON`() throws {
        var other: [UInt8] = []
        BenchPayload.append(123_456, to: &other)
        for bytes in [BenchPayload.bytes, other] {
            #expect(bytes.count == 200)
            #expect(try JSONSerialization.jsonObject(with: Data(bytes)) is [String: Any])
        }
        #expect(other != BenchPayload.bytes)
    }

    private struct Job: Decodable {
        struct Push: Decodable {
            var token: String
            var payload: [String: [String: String]]
        }
        var id: String
        var lane: String?
        var tokens: [String]?
        var pushes: [Push]?
        var payload: [String: [String: String]]?
    }

    /// The arguments of each Redis command in prepared jobs.
    private func commands(_ jobs: PreparedJobs) -> [[String]] {
        let text = jobs.pieces.map { String(decoding: $0.bytes, as: UTF8.self) }.joined()
        return text.split(separator: "*3\r\n").map { command in
            let words = command.split(separator: "\r\n")
            #expect(words.count == 6)
            for place in [0, 2, 4] { #expect(words[place] == "$\(words[place + 1].utf8.count)") }
            return [1, 3, 5].map { String(words[$0]) }
        }
    }

    @Test(arguments: [(2_500, 1_000), (7, 1), (1_000, 1_000), (40_000, 1_000), (1_200, 1)])
    func `jobs contain every token once`(pushes: Int, size: Int) throws {
        let jobs = PreparedJobs("j", pushes: pushes, jobSize: size, first: 5, fields: #""lane":"bulk""#)
        let commands = commands(jobs)
        #expect(commands.allSatisfy { $0[0] == "RPUSH" && $0[1] == "pushfarm:demo" })
        let texts = try commands.map { try JSONDecoder().decode(Job.self, from: Data($0[2].utf8)) }
        #expect(texts.map(\.id) == jobs.ids && Set(jobs.ids).count == (pushes + size - 1) / size)
        #expect(texts.flatMap { $0.tokens ?? [] } == (5..<(pushes + 5)).map(BenchTokens.text))
        #expect(texts.allSatisfy { $0.lane == "bulk" && $0.payload?["aps"]?["alert"] != nil })
        #expect(jobs.pieces.map(\.commands).reduce(0, +) == jobs.ids.count && jobs.pushes == pushes)
    }

    @Test func `jobs with a payload for each push have different payloads`() throws {
        let jobs = PreparedJobs("j", pushes: 2_000, jobSize: 1_000, kind: .payloadEach)
        let pushes = try commands(jobs).flatMap {
            try JSONDecoder().decode(Job.self, from: Data($0[2].utf8)).pushes ?? []
        }
        #expect(pushes.map(\.token) == (0..<2_000).map(BenchTokens.text))
        #expect(Set(pushes.compactMap { $0.payload["aps"]?["alert"] }).count == 2_000)
    }

    @Test func `jobs with values render to payloads of the usual length`() throws {
        let jobs = PreparedJobs("j", pushes: 2_000, jobSize: 1_000, kind: .values)
        for (command, first) in zip(commands(jobs), [0, 1_000]) {
            let job = try JobParser.parse(
                Array(command[2].utf8), app: "demo", topic: "com.example.demo", now: 0)
            #expect(job.accepted == 1_000 && job.details.templates.count == 1 && job.warning == nil)
            let sizes = (0..<1_000).map { job.details.withValues(of: $0) { $0.count } }
            #expect(sizes == (first..<first + 1_000).map { 1 + "\($0)".utf8.count })
            #expect((150...BenchPayload.length + 20).contains(job.details.templates[0].count))
        }
    }

    @Test(arguments: [(1_000_000, 100, 10_000), (300_000, 7, 42_000), (5_000, 100, 50), (10, 100, 1)])
    func `a part is a whole number of jobs if possible`(count: Int, divisor: Int, part: Int) {
        #expect(BenchPlan(divisor: divisor, folder: "").pushes(count) == part)
    }

    @Test func `cases are chosen by their keys`() {
        #expect(BenchCases.named(["worker"]).map(\.key) == ["worker"])
        #expect(BenchCases.named([]).count == BenchCases.all.count && BenchCases.named(["x"]).isEmpty)
        #expect(Set(BenchCases.all.map(\.key)).count == BenchCases.all.count)
    }
}
