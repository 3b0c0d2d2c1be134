/// Hex digits of either case, into bytes.
enum Hexadecimal {
    @inline(__always)
    static func value(_ digit: UInt8) -> UInt8? {
        let number = digit &- UInt8(ascii: "0")
        if number < 10 { return number }
        let letter = (digit | 0x20) &- UInt8(ascii: "a")
        return letter < 6 ? letter &+ 10 : nil
    }

    /// The four bytes, first one lowest, that eight digits stand for; nil if one of them is no digit.
    ///
    /// - Parameter digits: eight characters, the first one lowest.
    @inline(__always)
    static func fourBytes(_ digits: UInt64) -> UInt32? {
        let lower = digits | 0x2020_2020_2020_2020
        // Sums stay below 256 a byte as long as no character has its top bit set.
        let isNumber = (digits &+ 0x5050_5050_5050_5050) & ~(digits &+ 0x4646_4646_4646_4646)
        let isLetter = (lower &+ 0x1F1F_1F1F_1F1F_1F1F) & ~(lower &+ 0x1919_1919_1919_1919)
        guard ((isNumber | isLetter) & ~digits) & 0x8080_8080_8080_8080 == 0x8080_8080_8080_8080,
            digits & 0x8080_8080_8080_8080 == 0
        else { return nil }
        let letters = (isLetter & 0x8080_8080_8080_8080) &>> 7
        let values = (digits & 0x0F0F_0F0F_0F0F_0F0F) &+ letters &* 9
        var packed = (values &<< 4 | values &>> 8) & 0x00FF_00FF_00FF_00FF
        packed = (packed | packed &>> 8) & 0x0000_FFFF_0000_FFFF
        return UInt32(truncatingIfNeeded: packed | packed &>> 16)
    }
}
