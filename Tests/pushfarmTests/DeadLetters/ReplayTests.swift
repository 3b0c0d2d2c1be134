import PushModel
import Testing

@testable import RedisClient
@testable import StoreProtocol
@testable import pushfarm

/// Checks how dead letters become jobs again.
struct ReplayTests {
    private static let now: Int64 = 1_780_000_000

    private static func letter(
        _ number: Int, job: String = "old", reason: String = "BadTopic", options: PushOptions = PushOptions(),
        payloads: [String] = [], tokens: Int = 2
    ) -> DeadLetter {
        let head = JobPartHead(
            jobID: job, options: options, attempt: 3, cause: "c", payloadPerPush: !payloads.isEmpty)
        var builder = BatchBuilder()
        let shared = payloads.isEmpty ? Array(#"{"aps":{"alert":"é\n"}}"#.utf8) : []
        shared.withUnsafeBytes { builder.begin(head, payload: $0) }
        for index in 0..<tokens {
            let token = [UInt8](repeating: UInt8(number), count: 31) + [UInt8(index)]
            token.withUnsafeBytes { token in
                guard !payloads.isEmpty else { return builder.append(token: token) }
                Array(payloads[index].utf8).withUnsafeBytes { builder.append(token: token, payload: $0) }
            }
        }
        let body = builder.finish() ?? []
        return DeadLetter(
            id: EntryID(Array("\(number)-0".utf8)), job: job, reason: reason, status: 400, pushes: tokens,
            body: body)
    }

    private func parse(_ group: ReplayGroup, ttl: Int? = nil) throws -> ParsedJob {
        let id = ReplayGroup.jobID(replaying: group.key.job, number: 1)
        let text = group.job(id: id, lane: .bulk, ttl: ttl)
        return try JobParser.parse(text, app: "demo", topic: "com.example.demo", now: Self.now)
    }

    @Test func `a job of dead letters has the fields of the old job`() throws {
        let options = PushOptions(
            pushType: .voip, priority: 5, expiration: Self.now + 60, deadline: Self.now + 60,
            collapseID: "a\"b", topic: "com.example.demo.voip", receipts: .all, delivery: .atMostOnce,
            maxAttempts: 3, registeredAt: 7, isStored: true)
        var plan = ReplayPlan(now: Self.now)
        let full = plan.add(Self.letter(1, job: "o\"ld", options: options), of: "demo")
        #expect(full.isEmpty)
        let groups = plan.finish()
        let group = try #require(groups.first)
        let job = try parse(group)
        #expect(
            job.options == options && job.replayOf == "o\"ld" && job.id == "o\"ld.r1" && job.lane == .bulk)
        #expect(job.accepted == 2 && job.malformed.isEmpty)
        #expect(String(decoding: job.raw[job.payload(of: 0)], as: UTF8.self) == #"{"aps":{"alert":"é\n"}}"#)
        #expect(Array(job.tokenBytes.prefix(31)) == [UInt8](repeating: 1, count: 31))
        #expect(try parse(group, ttl: 600).options.expiration == Self.now + 600)
    }

    @Test func `each push keeps its own payload`() throws {
        var plan = ReplayPlan(now: Self.now)
        _ = plan.add(Self.letter(1, payloads: [#"{"n":1}"#, #"{"n": 2}"#]), of: "demo")
        let groups = plan.finish()
        let job = try parse(try #require(groups.first))
        let payloads = (0..<2).map { String(decoding: job.raw[job.payload(of: $0)], as: UTF8.self) }
        #expect(payloads == [#"{"n":1}"#, #"{"n": 2}"#])
    }

    @Test func `dead letters with equal job, options and payload share a job up to its limits`() {
        var plan = ReplayPlan(now: Self.now)
        plan.limits.pushes = 5
        var full: [ReplayGroup] = []
        for number in 1...3 { full += plan.add(Self.letter(number), of: "demo") }
        full += plan.add(Self.letter(4, job: "other"), of: "demo")
        full += plan.add(Self.letter(5, options: PushOptions(priority: 5)), of: "demo")
        #expect(full.map(\.pushes) == [4])
        let rest = plan.finish()
        #expect(rest.map(\.key.job) == ["other", "old", "old"] || rest.map(\.pushes) == [2, 2, 2])
        #expect((full + rest).flatMap(\.ids).count == 5, "each letter is in one job")
    }

    @Test func `dead letters that should not be sent are skipped and counted`() {
        let late = PushOptions(expiration: Self.now, deadline: Self.now)
        let once = PushOptions(delivery: .atMostOnce)
        let letters = [
            Self.letter(1, options: late), Self.letter(2, reason: "unknown", options: once),
            Self.letter(3, reason: "poison"), Self.letter(4, reason: "exhausted", options: once),
        ]
        var plan = ReplayPlan(now: Self.now)
        for letter in letters { _ = plan.add(letter, of: "demo") }
        let sent = plan.finish()
        #expect(sent.flatMap(\.ids).map(\.description) == ["4-0"])
        #expect(plan.skipped == [.expired: 2, .unknown: 2, .poison: 2])
        var all = ReplayPlan(now: Self.now)
        (all.hasNewTime, all.takesUnknown, all.takesPoison) = (true, true, true)
        for letter in letters { _ = all.add(letter, of: "demo") }
        let everything = all.finish()
        #expect(everything.flatMap(\.ids).count == 4 && all.skipped.isEmpty)
    }

    @Test(arguments: [
        ("a", 1), (String(repeating: "x", count: 60), 1), (String(repeating: "x", count: 64), 12),
        (String(repeating: "é", count: 64), 3), (String(repeating: "🚀", count: 63), 999),
    ])
    func `the id of a replay is valid in the contract`(old: String, number: Int) {
        let id = ReplayGroup.jobID(replaying: old, number: number)
        #expect(id.hasSuffix(".r\(number)") && id.unicodeScalars.count <= 64 && id.utf8.count <= 255)
        #expect(id != ReplayGroup.jobID(replaying: old, number: number + 1))
        #expect(id != ReplayGroup.jobID(replaying: String(old.dropLast()) + "y", number: number))
        #expect(old.unicodeScalars.count > 61 || id == old + ".r\(number)")
    }

    @Test(
        arguments: [
            ("90s", 99_910_000), ("15m", 99_100_000), ("1h", 96_400_000), ("1d", 13_600_000),
            ("100", 100_000),
            ("1970-01-02", 86_400_000), ("1970-01-01T00:01:02Z", 62_000), ("2000-02-29", 951_782_400_000),
            ("2026-05-01T10:00:00.5Z", 1_777_629_600_500), ("2100-03-01", 4_107_542_400_000),
        ] as [(String, Int64)])
    func `a moment has the meaning that operators expect`(text: String, milliseconds: Int64) throws {
        #expect(try Moment(reading: text).past(now: 100_000_000) == milliseconds)
    }

    @Test(arguments: ["", "x", "-5", "5w", "2026-13-01", "2026-05-01T10:00", "2026-05-01T25:00:00Z", "d"])
    func `an invalid moment is refused`(text: String) {
        #expect(throws: OptionFault.self) { try Moment(reading: text) }
    }
}
