/// Bytes as lower-case hexadecimal digits.
enum HexText {
    static func of(_ bytes: some Sequence<UInt8>) -> String {
        var text = ""
        for byte in bytes {
            for nibble in [byte >> 4, byte & 15] {
                text.unicodeScalars.append(Unicode.Scalar(nibble < 10 ? 48 + nibble : 87 + nibble))
            }
        }
        return text
    }
}
