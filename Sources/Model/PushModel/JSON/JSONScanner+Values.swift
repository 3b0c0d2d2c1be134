extension JSONScanner {
    /// Checks the value at the position, and moves the position to the value's end. The function needs no recursion: for each
    /// enclosing object or array, one bit of `objects` says whether it is an object.
    mutating func scanValue() throws(JSONError) {
        var objects: UInt64 = 0
        var level = 0
        while true {
            if try scanStart(&objects, &level) { continue }
            while true {
                guard level > 0 else { return }
                if try scanNext(isObject: objects & 1 == 1) { break }
                objects &>>= 1
                level -= 1
            }
        }
    }

    /// If the value has no elements, moves to the value's end and returns false. If the value is a non-empty object or array,
    /// moves to its first element and returns true.
    private mutating func scanStart(_ objects: inout UInt64, _ level: inout Int) throws(JSONError) -> Bool {
        switch try byte() {
        case UInt8(ascii: "\""): _ = try scanString()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): _ = try scanNumber()
        case UInt8(ascii: "t"): try scanLiteral("true")
        case UInt8(ascii: "f"): try scanLiteral("false")
        case UInt8(ascii: "n"): try scanLiteral("null")
        case UInt8(ascii: "{"):
            try open(level)
            if try byte() == UInt8(ascii: "}") {
                position += 1
                return false
            }
            guard try byte() == UInt8(ascii: "\"") else { throw error(.expected(.keyOrEnd)) }
            _ = try key()
            objects = objects &<< 1 | 1
            level += 1
            return true
        case UInt8(ascii: "["):
            try open(level)
            if try byte() == UInt8(ascii: "]") {
                position += 1
                return false
            }
            objects = objects &<< 1
            level += 1
            return true
        default: throw error(.expected(.value))
        }
        return false
    }

    private mutating func open(_ level: Int) throws(JSONError) {
        guard depth + level < Self.depthLimit else { throw error(.tooDeep) }
        position += 1
        skipWhiteSpace()
    }

    /// Called after a value. If another value follows, moves to this value and returns true. At the end of the object or array,
    /// moves behind its bracket and returns false.
    private mutating func scanNext(isObject: Bool) throws(JSONError) -> Bool {
        skipWhiteSpace()
        let found = try byte()
        if found == UInt8(ascii: ",") {
            position += 1
            skipWhiteSpace()
            if isObject { _ = try key() }
            return true
        }
        guard found == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
            throw error(.expected(isObject ? .commaOrBrace : .commaOrBracket))
        }
        position += 1
        return false
    }

    private mutating func scanLiteral(_ word: StaticString) throws(JSONError) {
        for offset in 0..<word.utf8CodeUnitCount {
            guard position + offset < bytes.count else {
                throw JSONError(fault: .endsTooEarly, position: bytes.count)
            }
            guard bytes[position + offset] == word.utf8Start[offset] else { throw error(.expected(.literal)) }
        }
        position += word.utf8CodeUnitCount
    }

    @inline(__always)
    mutating func skipWhiteSpace() {
        while position < bytes.count {
            let byte = bytes[position]
            guard byte <= 0x20, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
            position += 1
        }
    }

    @inline(__always)
    func byte() throws(JSONError) -> UInt8 {
        guard position < bytes.count else { throw error(.endsTooEarly) }
        return bytes[position]
    }

    func error(_ fault: JSONError.Fault) -> JSONError {
        JSONError(
            fault: position < bytes.count || fault == .empty ? fault : .endsTooEarly, position: position)
    }
}

extension JSONScanner {
    /// Moves to the end of a number. Returns false if the number has a fraction or an exponent.
    mutating func scanNumber() throws(JSONError) -> Bool {
        if bytes[position] == UInt8(ascii: "-") { position += 1 }
        if try byte() == UInt8(ascii: "0") {
            position += 1
            // A digit at this position would make the zero a leading zero, which JSON does not allow.
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

    /// The value of the number that was scanned at `range`; nil if the number has a fraction or an exponent, or does not fit.
    package func integer(in range: Range<Int>) -> Int64? {
        Decimal.read(UnsafeRawBufferPointer(rebasing: bytes[range]))
    }

    private mutating func scanDigits() throws(JSONError) {
        guard Self.isDigit(try byte()) else { throw error(.number) }
        while position < bytes.count, Self.isDigit(bytes[position]) { position += 1 }
    }

    @inline(__always)
    static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
}
