/// Device tokens by their places. All tokens differ and look random, and the simulator accepts each token.
package enum BenchTokens {
    /// The number of digits of a token.
    package static let length = 64

    private static let digits = Array("0123456789abcdef".utf8)

    package static func append(_ place: Int, to text: inout [UInt8]) {
        // No entry in the simulator's table of bad tokens begins with this digit.
        text.append(UInt8(ascii: "a"))
        text.append(UInt8(ascii: "a"))
        var state = UInt64(truncatingIfNeeded: place)
        var word: UInt64 = 0
        for digit in 0..<62 {
            if digit % 16 == 0 {
                state &+= 0x9E37_79B9_7F4A_7C15
                word = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
                word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
                word ^= word >> 31
            }
            text.append(digits[Int(word & 15)])
            word >>= 4
        }
    }

    package static func text(_ place: Int) -> String {
        var bytes: [UInt8] = []
        append(place, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
