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
            expiresAt: UTCTime(seconds: 7200 + minute), payload: payload(items), group: group())
    }

    private static func payload(_ items: String) -> [UInt8] {
        Array(#"{"aps":{"content-available":1},"fetch":\#(items)}"#.utf8)
    }

    @Test func `campaigns are merged in the order of their priorities`() throws {
        let due = try [
            Self.member("old", priority: 10, items: #"[{"page":1}, 2]"#),
            Self.member("ed\"2", priority: 90, minute: 5, items: #"["x","y"]"#),
            Self.member("b", minute: 1), Self.member("c"), Self.member("a", minute: 1),
        ]
        let result = try Self.group().push(due)
        let push = try #require(result.push)
        #expect(push.campaigns == ["ed\"2", "c", "a", "b", "old"])
        #expect(push.counted == "ed\"2")
        #expect(push.expiresAt == UTCTime(seconds: 7205))
        #expect(result.leftOut.isEmpty)
        #expect(
            String(decoding: push.payload, as: UTF8.self)
                == #"{"aps":{"content-available":1},"merge":"editions","fetch":[{"campaign":"ed\"2","items":["x","y"]},{"campaign":"c","items":["a"]},{"campaign":"a","items":["a"]},{"campaign":"b","items":["a"]},{"campaign":"old","items":[{"page":1}, 2]}]}"#
        )
    }

    @Test func `one campaign has the same form, and none has no push`() throws {
        let push = try #require(Self.group().push([Self.member("a")]).push)
        #expect(
            String(decoding: push.payload, as: UTF8.self)
                == #"{"aps":{"content-available":1},"merge":"editions","fetch":[{"campaign":"a","items":["a"]}]}"#
        )
        #expect(try Self.group().push([]).push == nil)
    }

    private static func items(_ bytes: Int) -> String { "[\"" + String(repeating: "x", count: bytes) + "\"]" }

    @Test func `what has no room is in the next push, before the others`() throws {
        let due = try [
            Self.member("high", priority: 90, items: Self.items(2000)),
            Self.member("middle", priority: 50, items: Self.items(2500)),
            Self.member("low", priority: 10, items: Self.items(100)),
        ]
        let first = try Self.group().push(due)
        #expect(first.push?.campaigns == ["high", "low"])
        #expect(first.leftOut.map(\.campaign) == ["middle"])
        let second = try Self.group().push(due, waiting: first.leftOut.map(\.campaign))
        #expect(second.push?.campaigns == ["middle", "low"])
        let third = try Self.group().push(due, waiting: second.leftOut.map(\.campaign))
        #expect(third.push?.campaigns == ["high", "low"])
    }

    @Test func `a payload is filled to the last byte`() throws {
        let empty = try #require(Self.group().push([Self.member("a", items: Self.items(0))]).push)
        let room = 4096 - empty.payload.count
        let full = try Self.group().push([Self.member("a", items: Self.items(room))])
        #expect(full.push?.payload.count == 4096)
        #expect(
            Self.fault { try Self.member("a", items: Self.items(room + 1)) }
                == "merge: the payload has 4036 bytes for the fetch list of a merged push; there is room for 4035"
        )
    }

    @Test func `random campaigns never exceed the limit, and each has its push within as many rounds`() throws
    {
        var random = SplitMix(seed: 21)
        let group = try Self.group()
        for _ in 0..<40 {
            let due = try (0..<random.int(in: 1...8)).map { index in
                try Self.member(
                    "c\(index)", priority: random.int(in: 0...100), minute: Int64(random.int(in: 0...3)),
                    items: Self.items(random.int(in: 0...3900)))
            }
            var (waiting, reached) = ([String](), Set<String>())
            for _ in due {
                let result = group.push(due, waiting: waiting)
                let push = try #require(result.push)
                try BrokenInvariant.unless(push.payload.count <= 4096, "\(push.payload.count) bytes")
                try push.payload.withUnsafeBytes { try JSONScanner.validate($0) }
                let all = push.campaigns + result.leftOut.map(\.campaign)
                try BrokenInvariant.unless(all.sorted() == due.map(\.campaign).sorted(), "\(all)")
                reached.formUnion(push.campaigns)
                waiting = result.leftOut.map(\.campaign)
            }
            try BrokenInvariant.unless(reached.count == due.count, "\(reached) of \(due.count)")
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
    ]

    @Test(arguments: refused) func `other payloads are refused`(payload: String, reason: String) {
        let fault = Self.fault {
            try MergeMember(
                campaign: "a", priority: 1, startedAt: UTCTime(seconds: 0), expiresAt: UTCTime(seconds: 1),
                payload: Array(payload.utf8), group: Self.group())
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
