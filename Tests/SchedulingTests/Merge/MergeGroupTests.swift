import PushModel
import RandomTesting
import Scheduling
import Testing

struct MergeGroupTests {
    private static func group() throws -> MergeGroup { try MergeGroup(name: "editions") }

    private static func member(
        _ campaign: String, priority: Int = 50, minute: Int64 = 0, items: String = #"["a"]"#
    ) throws -> MergeMember {
        try MergeMember(
            campaign: campaign, priority: priority, startedAt: UTCTime(seconds: minute * 60),
            payload: payload(items), group: group())
    }

    private static func payload(_ items: String) -> [UInt8] {
        Array(#"{"aps":{"content-available":1},"fetch":\#(items)}"#.utf8)
    }

    @Test func `campaigns are merged in the order of their priorities`() throws {
        let members = try [
            Self.member("old", priority: 10, items: #"[{"page":1}, 2]"#),
            Self.member("ed\"2", priority: 90, minute: 5, items: #"["x","y"]"#),
            Self.member("b", minute: 1), Self.member("c"), Self.member("a", minute: 1),
        ]
        #expect(
            String(decoding: try Self.group().payload(of: members), as: UTF8.self)
                == #"{"aps":{"content-available":1},"merge":"editions","fetch":[{"campaign":"ed\"2","items":["x","y"]},{"campaign":"c","items":["a"]},{"campaign":"a","items":["a"]},{"campaign":"b","items":["a"]},{"campaign":"old","items":[{"page":1}, 2]}]}"#
        )
    }

    @Test func `one campaign has the same form`() throws {
        #expect(
            String(decoding: try Self.group().payload(of: [Self.member("a")]), as: UTF8.self)
                == #"{"aps":{"content-available":1},"merge":"editions","fetch":[{"campaign":"a","items":["a"]}]}"#
        )
    }

    private static func items(_ bytes: Int) -> String { "[\"" + String(repeating: "x", count: bytes) + "\"]" }

    /// The campaigns that have room beside `leader`.
    private static func fitting(
        _ leader: MergeMember, _ others: [MergeMember], rounds: [Int]
    ) throws -> [String] {
        try group().fitting(leader, Array(zip(others, rounds))).map { others[$0].campaign }
    }

    @Test func `the sender has room first, then lower rounds, then greater priorities`() throws {
        let leader = try Self.member("low", priority: 10, items: Self.items(1000))
        let others = try [
            Self.member("middle", priority: 50, items: Self.items(2000)),
            Self.member("high", priority: 90, items: Self.items(2500)),
            Self.member("small", priority: 20, items: Self.items(100)),
        ]
        #expect(try Self.fitting(leader, others, rounds: [1, 1, 1]) == ["high", "small"])
        // The campaign that had no room is still in its first round when the other is in its second.
        #expect(try Self.fitting(leader, others, rounds: [1, 2, 1]) == ["middle", "small"])
    }

    @Test func `a payload is filled to the last byte`() throws {
        let room = 4096 - (try Self.group().payload(of: [Self.member("a", items: Self.items(0))])).count
        let full = try Self.member("a", items: Self.items(room))
        #expect(try Self.group().payload(of: [full]).count == 4096)
        #expect(
            Self.fault { try Self.member("a", items: Self.items(room + 1)) }
                == "merge: the payload has 4036 bytes for the fetch list of a merged push; there is room for 4035"
        )
        #expect(try MergeGroup(name: "editions", payloadLimit: 9000) == Self.group())
    }

    @Test func `random campaigns never exceed the limit, and each has room in a later push`() throws {
        var random = SplitMix(seed: 21)
        let group = try Self.group()
        for _ in 0..<40 {
            let all = try (0..<random.int(in: 2...8)).map { index in
                try Self.member(
                    "c\(index)", priority: random.int(in: 0...100), minute: Int64(random.int(in: 0...3)),
                    items: Self.items(random.int(in: 0...1900)))
            }
            var rounds = all.map { _ in 1 }
            // The first campaign sends all pushes, and does not leave room for all others at once.
            for _ in all {
                let others = Array(all.dropFirst())
                let fitting = group.fitting(all[0], Array(zip(others, rounds.dropFirst())))
                let payload = group.payload(of: [all[0]] + fitting.map { others[$0] })
                try BrokenInvariant.unless(payload.count <= 4096, "\(payload.count) bytes")
                rounds[0] += 1
                for index in fitting { rounds[index + 1] += 1 }
            }
            try BrokenInvariant.unless(rounds.allSatisfy { $0 > 1 }, "\(rounds)")
        }
    }

    /// A payload, and the reason of the refusal.
    private static let refused: [(String, String)] = [
        (
            #"{"aps":{"content-available":1},"fetch":\#(String(repeating: "[", count: 61))1\#(String(repeating: "]", count: 61))}"#,
            "the elements of fetch are nested too deeply"
        ),
        ("[]", "the payload expected an object"),
        (
            #"{"aps":{"content-available":1},"fetch":[1],"x":1}"#,
            #"the payload of a merged campaign has aps and fetch once, and no "x""#
        ),
        (
            #"{"aps":{"content-available":1},"fetch":[1],"fetch":[2]}"#,
            #"the payload of a merged campaign has aps and fetch once, and no "fetch""#
        ),
        (#"{"fetch":[1]}"#, "the payload of a merged campaign needs aps and fetch"),
        (#"{"aps":{"content-available":1}}"#, "the payload of a merged campaign needs aps and fetch"),
        (#"{"aps":{"alert":"x"},"fetch":[1]}"#, #"aps of a merged campaign is {"content-available":1}"#),
        (
            #"{"aps":{"content-available":2},"fetch":[1]}"#,
            #"aps of a merged campaign is {"content-available":1}"#
        ),
        (#"{"aps":{},"fetch":[1]}"#, #"aps of a merged campaign is {"content-available":1}"#),
        (#"{"aps":1,"fetch":[1]}"#, #"aps of a merged campaign is {"content-available":1}"#),
        (#"{"aps":{"content-available":1},"fetch":[]}"#, "fetch is a list with at least one element"),
        (#"{"aps":{"content-available":1},"fetch":{}}"#, "fetch is a list with at least one element"),
        (
            #"{"aps":{"content-available":1},"fetch":["/d/{{id}}"]}"#,
            "the payload of a merged campaign has no placeholders"
        ),
    ]

    @Test(arguments: refused) func `other payloads are refused`(payload: String, reason: String) {
        let fault = Self.fault {
            try MergeMember(
                campaign: "a", priority: 1, startedAt: UTCTime(seconds: 0), payload: Array(payload.utf8),
                group: Self.group())
        }
        #expect(fault == "merge: " + reason)
    }

    @Test func `wrong names and priorities are refused`() {
        for name in ["", "a\n", String(repeating: "a", count: 65)] {
            #expect(throws: ScheduleError.self) { try MergeGroup(name: name) }
        }
        #expect(throws: ScheduleError.self) { try Self.member("a", priority: 1001) }
        #expect(throws: ScheduleError.self) { try Self.member("a", priority: -1) }
    }

    private static func fault(_ body: () throws -> MergeMember) -> String? {
        do { _ = try body() } catch { return (error as? ScheduleError)?.description }
        return nil
    }
}
