/// Converts hexadecimal text in either case to bytes.
func bytes(hex: String) -> [UInt8] {
    let digits = hex.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

func hex(_ bytes: some Sequence<UInt8>) -> String {
    var text = ""
    for byte in bytes {
        let digits = String(byte, radix: 16)
        text += digits.count == 1 ? "0" + digits : digits
    }
    return text
}
