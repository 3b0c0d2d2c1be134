import RedisProtocol
import StoreProtocol
import Testing

struct SavedSegmentTests {
    @Test(arguments: ["a", "fans", "Fans-2026.11_b", "0", "seen", "tag", String(repeating: "a", count: 64)])
    func `a word is a name`(text: String) { #expect(SavedSegment.isName(text)) }

    @Test(arguments: [
        "", "all", "-a", ".a", "_a", "a b", "a:b", "tag:a", "seen<1d", "(a)", "!a", "ä", "a\n",
        String(repeating: "a", count: 65),
    ])
    func `an expression is not a name`(text: String) { #expect(!SavedSegment.isName(text)) }

    @Test func `a saved segment reads back`() {
        let segment = SavedSegment(
            name: "fans", expression: #"tag:"a \" b" & zone:Europe/*"#, by: "ann@host", at: 1_780_000_000_000)
        #expect(SavedSegment(name: "fans", json: Array(segment.json.utf8)) == segment)
    }

    private static let values: [(String, SavedSegment?)] = [
        (#"{"expression":"all"}"#, SavedSegment(name: "s", expression: "all", by: "", at: 0)),
        (
            #"{"later":[1],"at":7,"by":"b","expression":"tag:a"}"#,
            SavedSegment(name: "s", expression: "tag:a", by: "b", at: 7)
        ),
        (#"{"by":"b"}"#, nil),
        (#"{"expression":1}"#, nil),
        (#"{"expression":"all","at":"now"}"#, nil),
        (#"{"expression":"all"} x"#, nil),
        ("all", nil),
        ("", nil),
    ]

    @Test(arguments: values) func `a value without an expression cannot be read`(
        json: String, wanted: SavedSegment?
    ) {
        #expect(SavedSegment(name: "s", json: Array(json.utf8)) == wanted)
    }

    @Test func `segments are listed by name, and unreadable ones apart`() throws {
        let words = ["b", #"{"expression":"tag:b"}"#, "x", "?", "a", #"{"expression":"tag:a"}"#]
        let reply = try ReadSegments.read(.array(words.map { .bulk(Array($0.utf8)) }))
        #expect(reply.segments.map(\.name) == ["a", "b"] && reply.unreadable == ["x"])
        #expect(throws: StoreError.self) { try ReadSegments.read(.integer(1)) }
    }
}
