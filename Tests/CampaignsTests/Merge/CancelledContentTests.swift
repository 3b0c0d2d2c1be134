import PushModel
import RandomTesting
import Testing

@testable import Campaigns

struct CancelledContentTests {
    private static let options = PushOptions(
        pushType: .background, priority: 5, expiration: 1_790_000_000, collapseID: "editions",
        maxAttempts: 3)

    private static func token(_ number: Int) -> [UInt8] { Array(repeating: UInt8(number), count: 32) }

    private static func parse(_ job: [UInt8]) throws -> ParsedJob {
        try JobParser.parse(job, app: "demo", topic: "a.b", now: 1_789_000_000)
    }

    private static func payload(_ campaigns: [String]) -> [UInt8] {
        let content = campaigns.map { #"{"campaign":"\#($0)","items":["/\#($0)",{"a":[1]}]}"# }
        return Array(
            #"{"aps":{"content-available":1},"merge":"editions","fetch":[\#(content.joined(separator: ","))]}"#
                .utf8)
    }

    /// An entry with pushes of campaign `id` behind a push of another job. A push has the token 1, 2, … and the content of some
    /// campaigns.
    private static func entry(_ pushes: [[String]], of id: String = "ed-1", marks: String) -> [UInt8] {
        var builder = BatchBuilder()
        let other = JobPartHead(jobID: "job", options: PushOptions())
        Array("{}".utf8).withUnsafeBytes { builder.begin(other, payload: $0) }
        [UInt8]([9]).withUnsafeBytes { builder.append(token: $0) }
        builder.begin(
            JobPartHead(jobID: id, options: options, payloadPerPush: true),
            payload: UnsafeRawBufferPointer(start: nil, count: 0))
        for (index, campaigns) in pushes.enumerated() {
            Self.token(index + 1).withUnsafeBytes { token in
                payload(campaigns).withUnsafeBytes { builder.append(token: token, payload: $0) }
            }
        }
        let head = [UInt8(id.utf8.count)] + Array(id.utf8) + [0, 2, 0, UInt8(marks.utf8.count)]
        return head + Array(marks.utf8) + (builder.finish() ?? [])
    }

    @Test func `a job sends the content of the other campaigns to the devices of each payload`() throws {
        let pushes = [["ed-1"], ["ed-2", "ed-1"], ["ed-1", "mag"], ["ed-2", "ed-1"], ["ed-2", "ed-1"]]
        let content = try CancelledContent(decoding: Self.entry(pushes, marks: "xxxx-"))
        #expect(content.campaign == "ed-1" && content.others == ["ed-2", "mag"])
        let jobs = content.jobs(without: [], lane: "bulk")
        let parsed = try jobs.map(Self.parse)
        #expect(parsed.map(\.pushes.count) == [2, 1])
        #expect(parsed.allSatisfy { $0.id?.hasPrefix("ed-1.merged-") == true })
        #expect(parsed[0].id != parsed[1].id)
        #expect(parsed[0].options.collapseID == "editions" && parsed[0].options.expiration == 1_790_000_000)
        let texts = jobs.map { String(decoding: $0, as: UTF8.self) }
        let tokens = (1...5).map { Hexadecimal.text(of: Self.token($0)) }
        #expect(texts[0].contains(#""tokens":["\#(tokens[1])","\#(tokens[3])"]"#))
        #expect(texts[1].contains(#""tokens":["\#(tokens[2])"]"#))
        #expect(texts[0].contains(String(decoding: Self.payload(["ed-2"]), as: UTF8.self)))
        #expect(texts[1].contains(String(decoding: Self.payload(["mag"]), as: UTF8.self)))
        let again = try CancelledContent(decoding: Self.entry(pushes, marks: "xxxx-"))
        #expect(again.jobs(without: [], lane: "bulk") == jobs, "the same entry has the same jobs")
    }

    @Test func `content of campaigns that are cancelled, too, is not sent`() throws {
        let pushes = [["ed-1", "ed-2"], ["ed-1", "ed-2", "mag"]]
        let content = try CancelledContent(decoding: Self.entry(pushes, marks: "xx"))
        let jobs = content.jobs(without: ["ed-2"], lane: "high")
        #expect(jobs.count == 1)
        #expect(
            jobs[0].suffix(Self.payload(["mag"]).count + 1).dropLast().elementsEqual(Self.payload(["mag"])))
        #expect(content.jobs(without: ["ed-2", "mag"], lane: "high").isEmpty)
    }

    @Test func `a long id of a campaign leaves room for the end of the job's id`() throws {
        let id = String(repeating: "x", count: 60)
        let content = try CancelledContent(decoding: Self.entry([[id, "mag"]], of: id, marks: "x"))
        let job = try Self.parse(content.jobs(without: [], lane: "high")[0])
        #expect(job.id?.hasPrefix("merged-") == true)
    }

    @Test func `an entry that cannot be read is an error`() {
        let whole = Self.entry([["ed-1", "ed-2"]], marks: "x")
        for length in whole.indices {
            #expect(throws: CodecError.self) { try CancelledContent(decoding: Array(whole[..<length])) }
        }
        #expect(throws: CodecError.self) { try CancelledContent(decoding: Self.entry([["a"]], marks: "-")) }
        #expect(throws: CodecError.self) { try CancelledContent(decoding: Self.entry([["a"]], marks: "-x")) }
        var random = SplitMix(seed: 3)
        for _ in 0..<2_000 {
            var bytes = whole
            bytes[random.int(in: 0...bytes.count - 1)] = UInt8(random.int(in: 0...255))
            _ = try? CancelledContent(decoding: bytes).jobs(without: [], lane: "high")
        }
    }
}
