import PushModel

/// Device tokens that are used once: each carries its number.
enum DrillTokens {
    /// 64 hexadecimal digits; the last 16 are the number, the first 16 a mix of it.
    static func hex(_ number: UInt64) -> String {
        text(SeededRandom.number(at: number)) + String(repeating: "0", count: 32) + text(number)
    }

    private static func text(_ word: UInt64) -> String {
        withUnsafeBytes(of: word.bigEndian) { Hexadecimal.text(of: $0) }
    }

    static func number(_ hex: UnsafeRawBufferPointer) -> UInt64 {
        hex.suffix(16).reduce(0) { $0 << 4 | UInt64(value($1)) }
    }

    static func bytes(_ hex: UnsafeRawBufferPointer) -> [UInt8] { Hexadecimal.bytes(of: hex) ?? [] }

    private static func value(_ digit: UInt8) -> UInt8 { digit < 0x3A ? digit - 0x30 : digit - 0x57 }
}
