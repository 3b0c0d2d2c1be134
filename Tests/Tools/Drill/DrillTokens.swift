import PushModel

/// Device tokens that are used once. Each token contains its number.
enum DrillTokens {
    /// A token of 64 hexadecimal digits. The last 16 digits are the number. The first 16 digits are derived from the number.
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
