/// Device tokens that are used once: each carries its number.
enum DrillTokens {
    private static let digits = Array("0123456789abcdef".utf8)

    /// 64 hexadecimal digits; the last 16 are the number, the first 16 a mix of it.
    static func hex(_ number: UInt64) -> String {
        var word = number &+ 0x9E37_79B9_7F4A_7C15
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return text(word ^ (word >> 31)) + String(repeating: "0", count: 32) + text(number)
    }

    private static func text(_ word: UInt64) -> String {
        String(unsafeUninitializedCapacity: 16) { buffer in
            for place in 0..<16 { buffer[place] = digits[Int(word >> UInt64(60 - 4 * place) & 15)] }
            return 16
        }
    }

    static func number(_ hex: UnsafeRawBufferPointer) -> UInt64 {
        hex.suffix(16).reduce(0) { $0 << 4 | UInt64(value($1)) }
    }

    static func bytes(_ hex: UnsafeRawBufferPointer) -> [UInt8] {
        stride(from: 0, to: hex.count - 1, by: 2).map { value(hex[$0]) << 4 | value(hex[$0 + 1]) }
    }

    private static func value(_ digit: UInt8) -> UInt8 { digit < 0x3A ? digit - 0x30 : digit - 0x57 }
}
