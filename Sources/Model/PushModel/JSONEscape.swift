/// One escape of a string that is known to be valid.
struct JSONEscape {
    let text: String
    /// In the string, in bytes: 2, 6, or 12 for a surrogate pair.
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
