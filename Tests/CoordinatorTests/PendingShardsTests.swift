import Testing

@testable import Coordinator

struct PendingShardsTests {
    private static func taken(_ heard: inout PendingShards) -> [String] {
        heard.takeAll().map { "\($0.topic) \($0.app) \($0.shards)" }
    }

    @Test(arguments: [
        ("3 1", ["ready demo [1, 3]"], true), ("s 2", ["suppressed demo [2]"], true),
        ("*", ["ready demo [0, 1, 2, 3]"], true), ("3 3 3", ["ready demo [3]"], true), ("", [], true),
        ("s", [], false), ("s ", [], true), ("64", [], false), ("-1", [], false), ("s -1 4", [], false),
        ("1 x 99999999999999999999 2", ["ready demo [1, 2]"], false), ("s *", [], false), ("**", [], false),
        ("9223372036854775807 -9223372036854775808 0", ["ready demo [0]"], false),
    ])
    func `a wake-up names shards that the farm has`(text: String, reported: [String], isKnown: Bool) {
        var heard = PendingShards(shards: 4)
        let isWhole = heard.note(text, app: "demo")
        #expect(isWhole == isKnown)
        #expect(heard.isEmpty == reported.isEmpty)
        #expect(Self.taken(&heard) == reported)
        #expect(heard.isEmpty && Self.taken(&heard) == [])
    }

    @Test func `repeated wake-ups are reported once for each app and topic`() {
        var heard = PendingShards(shards: 4)
        for _ in 0..<10_000 {
            for text in ["1", "*", "s 3", "2 0"] { _ = heard.note(text, app: "b") }
            _ = heard.note("2", app: "a")
        }
        #expect(Self.taken(&heard) == ["ready a [2]", "ready b [0, 1, 2, 3]", "suppressed b [3]"])
    }
}
