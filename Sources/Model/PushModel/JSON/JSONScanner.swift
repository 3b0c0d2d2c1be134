/// Reads a JSON text from start to end and reports the exact positions of its values.
///
/// Implements all of RFC 8259 strictly: one value, no byte order mark, and nothing after the value. Strings must be valid UTF-8,
/// and an escape of a surrogate is allowed only in a pair. At most 64 objects and arrays may be nested. The scanner does not find
/// repeated names of members, so callers must check for them. The scanner copies and allocates nothing.
package struct JSONScanner {
    package static let depthLimit = 64

    package let bytes: UnsafeRawBufferPointer
    /// The offset of the next byte.
    package internal(set) var position = 0
    /// The number of objects and arrays that enclose the position.
    package private(set) var depth = 0
    /// True after an object or array is entered and before its first element is read.
    private var isFresh = false

    package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// Starts at the value at `position`, which is nested in `depth` objects and arrays.
    init(_ bytes: UnsafeRawBufferPointer, position: Int, depth: Int) {
        self.bytes = bytes
        self.position = position
        self.depth = depth
    }

    /// Checks that `bytes` is exactly one JSON value.
    package static func validate(_ bytes: UnsafeRawBufferPointer) throws(JSONError) {
        var scanner = JSONScanner(bytes)
        try scanner.start()
        _ = try scanner.skipValue()
        try scanner.end()
    }

    /// Moves to the first value.
    package mutating func start() throws(JSONError) {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { throw error(.byteOrderMark) }
        skipWhiteSpace()
        guard position < bytes.count else { throw error(.empty) }
    }

    /// Checks that only white space follows the position.
    package mutating func end() throws(JSONError) {
        skipWhiteSpace()
        guard position == bytes.count else { throw error(.goesOn) }
    }

    /// The kind of the value at the position. Checks only the first byte of the value.
    package mutating func kind() throws(JSONError) -> JSONKind {
        skipWhiteSpace()
        return switch try byte() {
        case UInt8(ascii: "{"): .object
        case UInt8(ascii: "["): .array
        case UInt8(ascii: "\""): .string
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): .number
        case UInt8(ascii: "t"), UInt8(ascii: "f"): .boolean
        case UInt8(ascii: "n"): .null
        default: throw error(.expected(.value))
        }
    }

    /// Enters the object at the position. ``nextKey()`` returns its members.
    package mutating func enterObject() throws(JSONError) { try enter(UInt8(ascii: "{"), .object) }

    /// Moves to the value of the object's next member and returns the member's name.
    /// If there is no next member, moves behind the object and returns nil.
    package mutating func nextKey() throws(JSONError) -> JSONString? {
        guard try next(UInt8(ascii: "}"), .commaOrBrace) else { return nil }
        return try key()
    }

    /// Enters the array at the position. ``nextElement()`` finds its elements.
    package mutating func enterArray() throws(JSONError) { try enter(UInt8(ascii: "["), .array) }

    /// Moves to the array's next element and returns true. If there is no next element, moves behind the
    /// array and returns false.
    @inline(__always)
    package mutating func nextElement() throws(JSONError) -> Bool {
        try next(UInt8(ascii: "]"), .commaOrBracket)
    }

    /// Reads the string at the position and moves behind it.
    package mutating func string() throws(JSONError) -> JSONString {
        skipWhiteSpace()
        guard try byte() == UInt8(ascii: "\"") else { throw error(.expected(.string)) }
        return try scanString()
    }

    /// Reads the whole number at the position and moves behind it. A fraction or an exponent is an error.
    package mutating func integer() throws(JSONError) -> Int64 {
        skipWhiteSpace()
        let start = position
        let first = try byte()
        guard first == UInt8(ascii: "-") || Self.isDigit(first) else { throw error(.expected(.integer)) }
        guard try scanNumber(), let value = integer(in: start..<position) else {
            position = start
            throw error(.expected(.integer))
        }
        return value
    }

    /// Checks the value at the position, moves behind it, and returns its range.
    package mutating func skipValue() throws(JSONError) -> Range<Int> {
        skipWhiteSpace()
        let start = position
        try scanValue()
        return start..<position
    }

    private mutating func enter(_ bracket: UInt8, _ what: JSONError.Expectation) throws(JSONError) {
        skipWhiteSpace()
        guard try byte() == bracket else { throw error(.expected(what)) }
        guard depth < Self.depthLimit else { throw error(.tooDeep) }
        position += 1
        depth += 1
        isFresh = true
    }

    /// Moves to the next element or member, and returns true.
    /// If no element or member remains, moves behind the bracket `end` of the array or object, and returns false.
    @inline(__always)
    private mutating func next(_ end: UInt8, _ what: JSONError.Expectation) throws(JSONError) -> Bool {
        skipWhiteSpace()
        let found = try byte()
        if found == end {
            position += 1
            depth -= 1
            isFresh = false
            return false
        }
        if isFresh {
            isFresh = false
            return true
        }
        guard found == UInt8(ascii: ",") else { throw error(.expected(what)) }
        position += 1
        skipWhiteSpace()
        return true
    }

    /// Reads the name of a member at the position, and moves to the member's value.
    mutating func key() throws(JSONError) -> JSONString {
        guard try byte() == UInt8(ascii: "\"") else { throw error(.expected(.key)) }
        let key = try scanString()
        skipWhiteSpace()
        guard try byte() == UInt8(ascii: ":") else { throw error(.expected(.colon)) }
        position += 1
        skipWhiteSpace()
        return key
    }
}

/// The kind of a JSON value.
package enum JSONKind: String, Sendable {
    case object = "an object"
    case array = "an array"
    case string = "a string"
    case number = "a number"
    case boolean = "a boolean"
    case null = "null"
}

/// The position of a string in a JSON text.
package struct JSONString: Hashable, Sendable {
    /// The range of the string without its quotes.
    package let content: Range<Int>
    /// True if `content` has backslash escapes, which ``JSONScanner/text(_:)`` replaces by the characters that they stand for.
    package let hasEscapes: Bool
}
