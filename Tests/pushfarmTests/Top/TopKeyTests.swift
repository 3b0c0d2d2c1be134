import Testing

@testable import pushfarm

struct TopKeyTests {
    @Test(arguments: [
        ("\u{1B}[A", [TopKey.up]), ("\u{1B}OB", [.down]), ("\u{1B}[5~\u{1B}[6~", [.pageUp, .pageDown]),
        ("\u{1B}", [.back]), ("\u{1B}[D", [.back]), ("\u{1B}[C", [.enter]), ("\r", [.enter]),
        ("\u{7F}", [.back]),
        ("\u{3}", [.interrupt]), ("q?", [.character("q"), .character("?")]), ("\u{1B}[1;5A", [.up]),
        ("\u{1B}[200~x", [.character("x")]), ("\u{1B}[", []), ("\u{1B}[H\u{1B}[4~", [.home, .end]),
        ("\u{1A}", [.suspend]),
    ])
    func `bytes of a terminal become keys`(text: String, keys: [TopKey]) {
        #expect(TopKey.keys(in: Array(text.utf8)) == keys)
    }

    @Test func `random bytes become keys or nothing`() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0...20)).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(TopKey.keys(in: bytes).count <= bytes.count)
        }
    }
}
