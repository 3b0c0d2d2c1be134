import Testing

@testable import Manual

struct RoffTests {
    private var page: Roff {
        Roff(title: "X", section: 1, date: "2026-01-02", source: "x 1", manual: "X")
    }

    @Test(arguments: [
        (#"a\b"#, #"a\eb"#), ("--no-op", #"\-\-no\-op"#), ("it's `x`", #"it\(aqs \(gax\(ga"#),
        ("~^", #"\(ti\(ha"#), ("…", #"\[u2026]"#), ("é", #"\[u00E9]"#),
    ])
    func `special characters are escaped`(text: String, escaped: String) {
        #expect(Roff.escaped(text) == escaped)
    }

    @Test func `a text line cannot become a roff request`() {
        var page = page
        page.literal([".so /etc/passwd", "'br"])
        #expect(page.text.contains("\n\\&.so /etc/passwd\n\\(aqbr\n"))
    }

    @Test func `each sentence starts a line, but abbreviations and ellipses do not end a sentence`() {
        var page = page
        page.prose("First. Second with e.g. this. and ... that! Third")
        #expect(page.text.hasSuffix("First.\nSecond with e.g. this. and ... that!\nThird\n"))
    }

    @Test func `lines have fewer than 80 characters`() {
        var page = page
        page.prose(String(repeating: "word ", count: 60))
        #expect(page.text.split(separator: "\n").allSatisfy { $0.utf8.count < 80 })
    }
}
