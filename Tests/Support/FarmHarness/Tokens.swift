/// Device tokens in hex. The same seed makes the same tokens.
package enum Tokens {
    /// - Parameter start: the first digits of each token. The simulator's response depends on these digits.
    package static func make(_ count: Int, start: String = "aa", seed: UInt64 = 1) -> [String] {
        var state = seed &* 0x9E37_79B9_7F4A_7C15
        return (0..<count).map { _ in
            var text = start
            while text.utf8.count < 64 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let word = String(state >> 16, radix: 16)
                text += String(repeating: "0", count: 12 - word.utf8.count) + word
            }
            return String(text.prefix(64))
        }
    }
}
