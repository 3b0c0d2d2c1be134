/// Bytes as lower-case hexadecimal digits, and back.
package enum Hexadecimal {
    /// Writes two digits a byte at the start of `room`.
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

    /// Reads digits of either case into the start of `room`.
    ///
    /// - Returns: the number of bytes, or nil if `digits` is odd in number or holds another character.
    package static func read(_ digits: UnsafeRawBufferPointer, to room: UnsafeMutableRawBufferPointer) -> Int?
    {
        guard digits.count.isMultiple(of: 2) else { return nil }
        precondition(room.count >= digits.count / 2, "\(digits.count) digits into \(room.count) bytes")
        for index in 0..<digits.count / 2 {
            guard let high = nibble(digits[2 * index]), let low = nibble(digits[2 * index + 1]) else {
                return nil
            }
            room[index] = high << 4 | low
        }
        return digits.count / 2
    }

    /// Whether `digits` are pairs of digits of either case.
    package static func isValid(_ digits: UnsafeRawBufferPointer) -> Bool {
        // Counted without an early end or a branch, so that the loop becomes vector instructions.
        var others: UInt8 = 0
        for digit in digits {
            let decimal = digit &- UInt8(ascii: "0")
            let letter = (digit | 0x20) &- UInt8(ascii: "a")
            others |= (decimal < 10 ? 0 : 1) & (letter < 6 ? 0 : 1)
        }
        return others == 0 && digits.count.isMultiple(of: 2)
    }

    /// The value of one digit of either case.
    @inline(__always)
    static func nibble(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// Without a branch or a table, so that a loop over it becomes vector instructions.
    @inline(__always)
    private static func digit(_ nibble: UInt8) -> UInt8 {
        nibble &+ UInt8(ascii: "0") &+ ((nibble &+ 6) >> 4) &* 39
    }
}
