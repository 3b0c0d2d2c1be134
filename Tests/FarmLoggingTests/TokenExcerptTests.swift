import Testing

@testable import FarmLogging

struct TokenExcerptTests {
    @Test(arguments: [
        ("00fc13adff785122", "00fc13ad…"), ("00fc13ad", "…"), ("", "…"), ("00fc13adf", "00fc13ad…"),
    ])
    func `shows eight hex characters at most, never all of it`(hex: String, shown: String) {
        #expect(TokenExcerpt(hex: hex).description == shown)
    }

    @Test func `bytes and hex agree`() {
        #expect(TokenExcerpt(bytes: [0x00, 0xFC, 0x13, 0xAD, 0xFF]).description == "00fc13ad…")
        #expect(TokenExcerpt(bytes: [0x00, 0xFC]).description == "…")
    }
}
