extension [UInt8] {
    mutating func appendLineEnd() {
        append(UInt8(ascii: "\r"))
        append(UInt8(ascii: "\n"))
    }

    /// Appends a number as decimal digits, without a String.
    package mutating func append(decimal value: Int64) {
        if value < 0 { append(UInt8(ascii: "-")) }
        let first = endIndex
        var rest = value.magnitude
        repeat {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        self[first...].reverse()
    }
}
