/// Converts whole numbers to and from decimal digits.
package enum Decimal {
    /// The maximum number of characters of an `Int64`, with a minus sign.
    package static let longest = 20

    /// Writes `number` to the start of `room`. A negative number begins with a minus sign.
    ///
    /// - Returns: the number of characters.
    package static func write(_ number: Int64, to room: UnsafeMutableRawBufferPointer) -> Int {
        var rest = number.magnitude
        var count = number < 0 ? 2 : 1
        while rest >= 10 {
            rest /= 10
            count += 1
        }
        precondition(room.count >= count, "a number of \(count) characters into \(room.count)")
        rest = number.magnitude
        var position = count
        repeat {
            position -= 1
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
            room[position] = UInt8(ascii: "0") + UInt8(digit)
            rest = quotient
        } while rest > 0
        if number < 0 { room[0] = UInt8(ascii: "-") }
        return count
    }

    /// Reads digits with an optional minus sign; nil if another character occurs, there is no digit, or the number does not fit.
    package static func read(_ text: UnsafeRawBufferPointer) -> Int64? {
        let isNegative = text.first == UInt8(ascii: "-")
        let digits = isNegative ? UnsafeRawBufferPointer(rebasing: text.dropFirst()) : text
        guard !digits.isEmpty else { return nil }
        var value: Int64 = 0
        for character in digits {
            guard character &- UInt8(ascii: "0") < 10 else { return nil }
            let digit = Int64(character &- UInt8(ascii: "0"))
            let (tens, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = tens.addingReportingOverflow(isNegative ? -digit : digit)
            guard !overflow, !carry else { return nil }
            value = sum
        }
        return value
    }
}

extension [UInt8] {
    /// Appends a number as decimal digits without creating a String.
    package mutating func append(decimal value: Int64) {
        withUnsafeTemporaryAllocation(byteCount: Decimal.longest, alignment: 1) { room in
            let count = Decimal.write(value, to: room)
            append(contentsOf: UnsafeRawBufferPointer(rebasing: room[..<count]))
        }
    }
}
