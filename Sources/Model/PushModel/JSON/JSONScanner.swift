/// Goes through a JSON text from first to last, and says exactly where its values stand.
///
/// All of RFC 8259, and strictly: one value, no byte order mark, nothing behind it; strings are valid UTF-8
/// without halves of surrogate pairs; at most 64 objects and arrays inside each other. Repeated names are the
/// caller's affair. Copies and allocates nothing.
package struct JSONScanner {
    package static let depthLimit = 64

    package let bytes: UnsafeRawBufferPointer
    /// Offset of the next byte.
    package internal(set) var position = 0
    /// Objects and arrays around the position.
    package private(set) var depth = 0
    /// An object or array was entered, and nothing of it read.
    private var isFresh = false

    package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// Starts at the value at `position`, around which there are `depth` objects and arrays.
    init(_ bytes: UnsafeRawBufferPointer, position: Int, depth: Int) {
        self.bytes = bytes
        self.position = position
        self.depth = depth
    }

    /// Checks that `bytes` is one JSON value.
    package static func validate(_ bytes: UnsafeRawBufferPointer) throws(JSONError) {
        var scanner = JSONScanner(bytes)
        try scanner.start()
        _ = try scanner.skipValue()
        try scanner.end()
    }

    /// Goes to the first value.
    package mutating func start() throws(JSONError) {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { throw error(.byteOrderMark) }
        skipWhiteSpace()
        guard position < bytes.count else { throw error(.empty) }
    }

    /// Checks that nothing but white space follows.
    package mutating func end() throws(JSONError) {
        skipWhiteSpace()
        guard position == bytes.count else { throw error(.goesOn) }
    }

    /// The kind of the value at the position, by its first byte.
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

    /// Goes into the object at the position; ``nextKey()`` gives its members.
    package mutating func enterObject() throws(JSONError) { try enter(UInt8(ascii: "{"), .object) }

    /// Goes to the value of the object's next member and gives its name; after the last, past the object.
    package mutating func nextKey() throws(JSONError) -> JSONString? {
        guard try next(UInt8(ascii: "}"), .commaOrBrace) else { return nil }
        return try key()
    }

    /// Goes into the array at the position; ``nextElement()`` finds its elements.
    package mutating func enterArray() throws(JSONError) { try enter(UInt8(ascii: "["), .array) }

    /// Goes to the array's next element; past the array, and false, if there is none.
    @inline(__always)
    package mutating func nextElement() throws(JSONError) -> Bool {
        try next(UInt8(ascii: "]"), .commaOrBracket)
    }

    /// Goes past the string at the position.
    package mutating func string() throws(JSONError) -> JSONString {
        skipWhiteSpace()
        guard try byte() == UInt8(ascii: "\"") else { throw error(.expected(.string)) }
        return try scanString()
    }

    /// Goes past the whole number at the position; one with a fraction or an exponent is none.
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

    /// Checks the value at the position, goes past it, and says where it stands.
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

    /// Goes past the comma before the next element or member; or past the end.
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

    /// Goes past a member's name and its colon.
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

/// A JSON string as it stands in the text.
package struct JSONString: Hashable, Sendable {
    /// Where it stands, without its quotes.
    package let content: Range<Int>
    /// It holds backslash escapes, so that `content` is not yet its text.
    package let hasEscapes: Bool
}
