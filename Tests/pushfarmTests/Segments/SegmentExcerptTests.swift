import Testing

@testable import pushfarm

struct SegmentExcerptTests {
    private static let places: [(text: String, position: Int, wanted: String)] = [
        ("tags:a", 0, "  tags:a\n  ^"),
        ("tag:a &", 7, "  tag:a &\n         ^"),
        ("tag:a\t\n?", 7, "  tag:a???\n         ^"),
        // The position counts bytes. `ä` has two bytes and one column, so the mark is in an earlier column than the position.
        ("tag:ä ?", 7, "  tag:ä ?\n        ^"),
        ("", 0, "  \n  ^"),
        ("a", 99, "  a\n   ^"),
    ]

    @Test(arguments: places) func `the mark is under the place`(
        text: String, position: Int, wanted: String
    ) {
        #expect(SegmentExcerpt(text, at: position).text == wanted)
    }

    @Test func `of a long expression only the surroundings are shown`() {
        let long = String(repeating: "tag:aaaaa|", count: 200)
        let lines = SegmentExcerpt(long, at: 1005).text.split(separator: "\n")
        #expect(lines.count == 2 && lines.allSatisfy { $0.count <= 78 })
        #expect(lines[0] == "  …" + long.dropFirst(956).prefix(72) + "…")
        #expect(lines[1] == String(repeating: " ", count: 52) + "^")
    }
}
