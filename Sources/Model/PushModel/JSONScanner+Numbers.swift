extension JSONScanner {
    /// Goes past a number; false if it has a fraction or an exponent.
    mutating func scanNumber() throws(JSONError) -> Bool {
        if bytes[position] == UInt8(ascii: "-") { position += 1 }
        if try byte() == UInt8(ascii: "0") {
            position += 1
            // A leading zero; nothing that may follow a number starts with a digit.
            if position < bytes.count, Self.isDigit(bytes[position]) { throw error(.number) }
        } else {
            try scanDigits()
        }
        var isInteger = true
        if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
            isInteger = false
            position += 1
            try scanDigits()
        }
        if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            position += 1
            let sign = try byte()
            if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { position += 1 }
            try scanDigits()
        }
        return isInteger
    }

    /// The value of a number that was scanned before; nil with a fraction or an exponent, or if too large.
    package func integer(in range: Range<Int>) -> Int64? {
        let isNegative = bytes[range.lowerBound] == UInt8(ascii: "-")
        var value: Int64 = 0
        for digit in bytes[(range.lowerBound + (isNegative ? 1 : 0))..<range.upperBound] {
            guard Self.isDigit(digit) else { return nil }
            let (tenfold, isTooLarge) = value.multipliedReportingOverflow(by: 10)
            let number = Int64(digit &- UInt8(ascii: "0"))
            let (sum, doesNotFit) =
                isNegative
                ? tenfold.subtractingReportingOverflow(number) : tenfold.addingReportingOverflow(number)
            guard !isTooLarge, !doesNotFit else { return nil }
            value = sum
        }
        return value
    }

    private mutating func scanDigits() throws(JSONError) {
        guard Self.isDigit(try byte()) else { throw error(.number) }
        while position < bytes.count, Self.isDigit(bytes[position]) { position += 1 }
    }

    @inline(__always)
    static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
}
