/// Base64 with the URL-safe alphabet and without padding, as JSON Web Tokens use it.
/// - Source: RFC 4648, 5; RFC 7515, 2.
package enum Base64URL {
    private static let alphabet: StaticString =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

    package static func encode(_ bytes: some Collection<UInt8>) -> [UInt8] {
        let digits = alphabet.utf8Start
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 4 + 2) / 3)
        var bits: UInt32 = 0
        var count = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                text.append(digits[Int(bits >> count & 63)])
            }
        }
        if count > 0 { text.append(digits[Int(bits << (6 - count) & 63)]) }
        return text
    }

    /// Decodes text, with or without padding to a multiple of 4 characters. Returns nil if the text has a character
    /// outside the alphabet, an impossible length, or unused bits that are not zero.
    package static func decode(_ text: some BidirectionalCollection<UInt8>) -> [UInt8]? {
        var digits = text[...]
        if text.count.isMultiple(of: 4) {
            while digits.last == UInt8(ascii: "="), text.count - digits.count < 2 { digits.removeLast() }
        }
        guard digits.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count * 3 / 4)
        var bits: UInt32 = 0
        var count = 0
        for digit in digits {
            guard let value = value(of: digit) else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            }
        }
        return bits & (1 << count - 1) == 0 ? bytes : nil
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): digit - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0") + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
