extension JSONScanner {
    /// Checks the string that starts at the position, and moves the position to the string's end.
    mutating func scanString() throws(JSONError) -> JSONString {
        let start = position + 1
        var hasEscapes = false
        position = start
        while true {
            skipPlainText()
            switch try byte() {
            case UInt8(ascii: "\""):
                position += 1
                return JSONString(content: start..<position - 1, hasEscapes: hasEscapes)
            case UInt8(ascii: "\\"):
                hasEscapes = true
                try scanEscape()
            case 0..<0x20: throw error(.controlCharacter)
            case 0x80...:
                let length = UTF8Text.sequenceLength(bytes, at: position)
                guard length > 0 else { throw error(.invalidUTF8) }
                position += length
            default: position += 1
            }
        }
    }

    /// Skips ASCII characters except quotes, backslashes and control characters, eight bytes at a time.
    @inline(__always)
    private mutating func skipPlainText() {
        while bytes.count - position >= 8 {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
            let quote = word ^ 0x2222_2222_2222_2222
            let backslash = word ^ 0x5C5C_5C5C_5C5C_5C5C
            // The top bit of a byte of `stops` is set if the byte is a quote, a backslash, a control character (below 0x20) or
            // not ASCII. The code uses only the lowest set bit, because a subtraction may borrow from the byte above.
            let stops =
                (word | (quote &- 0x0101_0101_0101_0101 & ~quote)
                    | (backslash &- 0x0101_0101_0101_0101 & ~backslash)
                    | (word &- 0x2020_2020_2020_2020 & ~word)) & 0x8080_8080_8080_8080
            guard stops == 0 else {
                position += stops.trailingZeroBitCount / 8
                return
            }
            position += 8
        }
    }

    private mutating func scanEscape() throws(JSONError) {
        let start = position
        position += 1
        switch try byte() {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 1
        case UInt8(ascii: "u"):
            position += 1
            let unit = try scanHexUnit()
            guard unit & 0xF800 == 0xD800 else { return }
            guard unit < 0xDC00, bytes.count - position >= 2, bytes[position] == UInt8(ascii: "\\"),
                bytes[position + 1] == UInt8(ascii: "u")
            else { throw JSONError(fault: .surrogate, position: start) }
            position += 2
            guard try scanHexUnit() & 0xFC00 == 0xDC00 else {
                throw JSONError(fault: .surrogate, position: start)
            }
        default: throw error(.escape)
        }
    }

    private mutating func scanHexUnit() throws(JSONError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = Hexadecimal.value(of: try byte()) else { throw error(.escape) }
            unit = unit &<< 4 | UInt16(digit)
            position += 1
        }
        return unit
    }

    /// Appends the unescaped text of a scanned string.
    package func append(_ string: JSONString, to text: inout [UInt8]) {
        var rest = UnsafeRawBufferPointer(rebasing: bytes[string.content])
        guard string.hasEscapes else {
            text.append(contentsOf: rest)
            return
        }
        while let backslash = rest.firstIndex(of: UInt8(ascii: "\\")) {
            text.append(contentsOf: rest[..<backslash])
            let escape = JSONEscape(rest, at: backslash)
            text.append(contentsOf: escape.text.utf8)
            rest = UnsafeRawBufferPointer(rebasing: rest[(backslash + escape.length)...])
        }
        text.append(contentsOf: rest)
    }

    /// The unescaped text of a scanned string.
    package func text(_ string: JSONString) -> String {
        guard string.hasEscapes else { return String(decoding: bytes[string.content], as: UTF8.self) }
        var text: [UInt8] = []
        append(string, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Whether the text of a scanned string equals `word`. `word` must be ASCII.
    package func matches(_ string: JSONString, _ word: StaticString) -> Bool {
        guard string.hasEscapes else {
            guard string.content.count == word.utf8CodeUnitCount else { return false }
            for offset in 0..<word.utf8CodeUnitCount
            where bytes[string.content.lowerBound + offset] != word.utf8Start[offset] { return false }
            return true
        }
        return text(string) == word.description
    }
}

/// Decodes one escape sequence of a string that the scanner has already checked.
struct JSONEscape {
    let text: String
    /// The length of the escape in bytes: 2, 6, or 12 for a surrogate pair.
    let length: Int

    init(_ bytes: UnsafeRawBufferPointer, at start: Int) {
        func unit(_ offset: Int) -> UInt32 {
            bytes[offset..<offset + 4].reduce(0) { $0 << 4 | UInt32(Hexadecimal.value(of: $1) ?? 0) }
        }
        var scalar: UInt32
        switch bytes[start + 1] {
        case UInt8(ascii: "b"): (scalar, length) = (0x08, 2)
        case UInt8(ascii: "f"): (scalar, length) = (0x0C, 2)
        case UInt8(ascii: "n"): (scalar, length) = (0x0A, 2)
        case UInt8(ascii: "r"): (scalar, length) = (0x0D, 2)
        case UInt8(ascii: "t"): (scalar, length) = (0x09, 2)
        case UInt8(ascii: "u"):
            scalar = unit(start + 2)
            if scalar & 0xFC00 == 0xD800 {
                scalar = 0x10000 + (scalar & 0x3FF) << 10 + unit(start + 8) & 0x3FF
                length = 12
            } else {
                length = 6
            }
        case let other: (scalar, length) = (UInt32(other), 2)
        }
        text = String(Character(Unicode.Scalar(scalar) ?? "\u{FFFD}"))
    }
}
