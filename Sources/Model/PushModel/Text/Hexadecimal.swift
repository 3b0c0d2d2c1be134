/// Converts bytes to and from lower-case hexadecimal digits.
package enum Hexadecimal {
    /// Returns the digits of some bytes.
    package static func text(of bytes: some Sequence<UInt8>) -> String {
        bytes.withContiguousStorageIfAvailable { text(of: UnsafeRawBufferPointer($0)) }
            ?? Array(bytes).withUnsafeBytes { text(of: $0) }
    }

    private static func text(of bytes: UnsafeRawBufferPointer) -> String {
        String(unsafeUninitializedCapacity: 2 * bytes.count) {
            write(bytes, to: UnsafeMutableRawBufferPointer($0))
        }
    }

    /// Converts digits in upper or lower case to bytes; nil if the number of digits is odd or another character occurs.
    package static func bytes(of digits: some Sequence<UInt8>) -> [UInt8]? {
        Array(digits).withUnsafeBytes { digits in
            var bytes = [UInt8](repeating: 0, count: digits.count / 2)
            let isRead = bytes.withUnsafeMutableBytes { read(digits, to: $0) != nil }
            return isRead ? bytes : nil
        }
    }

    /// Writes two digits for each byte to the start of `room`.
    ///
    /// - Returns: the number of digits.
    @discardableResult
    package static func write(_ bytes: UnsafeRawBufferPointer, to room: UnsafeMutableRawBufferPointer) -> Int
    {
        precondition(room.count >= 2 * bytes.count, "\(bytes.count) bytes into \(room.count) digits")
        guard let start = room.baseAddress else { return 0 }
        for (index, byte) in bytes.enumerated() {
            start.storeBytes(of: digit(byte >> 4), toByteOffset: 2 * index, as: UInt8.self)
            start.storeBytes(of: digit(byte & 15), toByteOffset: 2 * index + 1, as: UInt8.self)
        }
        return 2 * bytes.count
    }

    /// Converts digits in upper or lower case to bytes, and writes the bytes to the start of `room`.
    ///
    /// - Returns: the number of bytes; nil if the number of digits is odd or another character occurs.
    package static func read(_ digits: UnsafeRawBufferPointer, to room: UnsafeMutableRawBufferPointer) -> Int?
    {
        guard digits.count.isMultiple(of: 2) else { return nil }
        precondition(room.count >= digits.count / 2, "\(digits.count) digits into \(room.count) bytes")
        for index in 0..<digits.count / 2 {
            guard let high = value(of: digits[2 * index]), let low = value(of: digits[2 * index + 1]) else {
                return nil
            }
            room[index] = high << 4 | low
        }
        return digits.count / 2
    }

    /// Whether `digits` has an even number of characters, and each is a hexadecimal digit in upper or lower case.
    package static func isValid(_ digits: UnsafeRawBufferPointer) -> Bool {
        // The loop has no early exit and no branch, so that the compiler can use vector instructions.
        var others: UInt8 = 0
        for digit in digits {
            let decimal = digit &- UInt8(ascii: "0")
            let letter = (digit | 0x20) &- UInt8(ascii: "a")
            others |= (decimal < 10 ? 0 : 1) & (letter < 6 ? 0 : 1)
        }
        return others == 0 && digits.count.isMultiple(of: 2)
    }

    /// Returns the digit for a number from 0 to 15. Uses no branch and no table, so that the compiler can use vector instructions
    /// in a loop.
    @inline(__always)
    static func digit(_ nibble: UInt8) -> UInt8 {
        nibble &+ UInt8(ascii: "0") &+ ((nibble &+ 6) >> 4) &* 39
    }

    @inline(__always)
    package static func value(of digit: UInt8) -> UInt8? {
        let number = digit &- UInt8(ascii: "0")
        if number < 10 { return number }
        let letter = (digit | 0x20) &- UInt8(ascii: "a")
        return letter < 6 ? letter &+ 10 : nil
    }

    /// Converts eight digits to four bytes. The lowest bits of the result contain the first byte.
    ///
    /// - Parameter digits: eight characters. The lowest bits contain the first character.
    /// - Returns: nil if a character is not a hexadecimal digit.
    @inline(__always)
    package static func fourBytes(_ digits: UInt64) -> UInt32? {
        let lower = digits | 0x2020_2020_2020_2020
        // Sums do not overflow into the next byte, because no character has its top bit set.
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
