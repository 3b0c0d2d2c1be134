/// Checks that bytes are valid UTF-8, and finds positions where text may be cut.
/// - Source: The Unicode Standard, table 3-7, "Well-Formed UTF-8 Byte Sequences".
package enum UTF8Text {
    package static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var offset = 0
        while offset < bytes.count {
            guard bytes[offset] >= 0x80 else {
                offset += 1
                continue
            }
            let length = sequenceLength(bytes, at: offset)
            guard length > 0 else { return false }
            offset += length
        }
        return true
    }

    /// The length of the well-formed sequence of two to four bytes that begins at `offset`; 0 if no such sequence begins there.
    package static func sequenceLength(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int {
        let lead = bytes[offset]
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch lead {
        case 0xC2...0xDF: length = 2
        case 0xE0...0xEF:
            length = 3
            if lead == 0xE0 { second = 0xA0...0xBF }
            if lead == 0xED { second = 0x80...0x9F }
        case 0xF0...0xF4:
            length = 4
            if lead == 0xF0 { second = 0x90...0xBF }
            if lead == 0xF4 { second = 0x80...0x8F }
        default: return 0
        }
        guard bytes.count - offset >= length, second.contains(bytes[offset + 1]) else { return 0 }
        if length > 2, bytes[offset + 2] & 0xC0 != 0x80 { return 0 }
        if length > 3, bytes[offset + 3] & 0xC0 != 0x80 { return 0 }
        return length
    }

    /// Whether the scalar is a control character (general category Cc).
    package static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
    }

    /// The longest prefix of at most `limit` bytes that does not split a character.
    package static func prefix(_ bytes: UnsafeRawBufferPointer, limit: Int) -> UnsafeRawBufferPointer {
        guard bytes.count > limit else { return bytes }
        var end = limit
        while end > 0, limit - end < 3, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: bytes[..<end])
    }
}

/// The start of an input, on one line, for messages.
///
/// An excerpt has at most 40 bytes of the input, so it never contains all 64 digits of a usual device token.
package enum Excerpt {
    static let limit = 40

    package static func of(_ text: String) -> String {
        var text = text
        return text.withUTF8 { of(UnsafeRawBufferPointer($0)) }
    }

    static func of(_ bytes: UnsafeRawBufferPointer) -> String {
        let cut = UTF8Text.prefix(bytes, limit: limit)
        var scalars = String.UnicodeScalarView()
        for scalar in String(decoding: cut, as: UTF8.self).unicodeScalars {
            scalars.append(UTF8Text.isControl(scalar) ? " " : scalar)
        }
        return String(scalars) + (cut.count < bytes.count ? "…" : "")
    }
}

extension UInt8 {
    /// Whether the byte is an ASCII letter or digit.
    package var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
