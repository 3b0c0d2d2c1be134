import PushModel

/// A JSON value with its range in the text, and with the values inside it.
struct JSONTree {
    /// A member of an object.
    struct Member {
        let name: String
        /// The offset of the name's first quote.
        let position: Int
        let value: JSONTree
    }

    enum Content {
        case object([Member])
        case array([JSONTree])
        case string(String)
        /// A number. The whole number is nil if the number has a fraction or an exponent, or does not fit 64 bits.
        case number(Double, whole: Int64?)
        case boolean(Bool)
        case null
    }

    let content: Content
    /// The range of the value in the text.
    let range: Range<Int>

    /// Reads a whole text, which must be one JSON value. Nesting is limited by ``JSONScanner/depthLimit``.
    init(_ bytes: [UInt8]) throws(JSONError) {
        self = try bytes.withUnsafeBufferPointer { (buffer) throws(JSONError) in
            var scanner = JSONScanner(UnsafeRawBufferPointer(buffer))
            try scanner.start()
            let tree = try JSONTree(&scanner)
            try scanner.end()
            return tree
        }
    }

    private init(_ scanner: inout JSONScanner) throws(JSONError) {
        let kind = try scanner.kind()
        let start = scanner.position
        switch kind {
        case .object:
            var members: [Member] = []
            try scanner.enterObject()
            while let key = try scanner.nextKey() {
                members.append(
                    Member(
                        name: scanner.text(key), position: key.content.lowerBound - 1,
                        value: try JSONTree(&scanner)))
            }
            content = .object(members)
        case .array:
            var elements: [JSONTree] = []
            try scanner.enterArray()
            while try scanner.nextElement() { elements.append(try JSONTree(&scanner)) }
            content = .array(elements)
        case .string: content = .string(scanner.text(try scanner.string()))
        case .number:
            let range = try scanner.skipValue()
            let text = String(decoding: scanner.bytes[range], as: UTF8.self)
            content = .number(Double(text) ?? 0, whole: scanner.integer(in: range))
        case .boolean:
            let range = try scanner.skipValue()
            content = .boolean(scanner.bytes[range.lowerBound] == UInt8(ascii: "t"))
        case .null:
            _ = try scanner.skipValue()
            content = .null
        }
        range = start..<scanner.position
    }

    /// What the value is, as a phrase for error messages, such as `an object`.
    var kind: JSONKind {
        switch content {
        case .object: .object
        case .array: .array
        case .string: .string
        case .number: .number
        case .boolean: .boolean
        case .null: .null
        }
    }

    /// The value of an object's first member of this name; nil if there is none.
    subscript(name: String) -> JSONTree? {
        guard case .object(let members) = content else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// The elements of an array; empty for other values.
    var elements: [JSONTree] {
        if case .array(let elements) = content { elements } else { [] }
    }

    /// The text of a string; nil for other values.
    var text: String? {
        if case .string(let text) = content { text } else { nil }
    }

    /// A whole number within ±2^48; nil for other values.
    var integer: Int64? {
        guard case .number(_, let whole?) = content, Int64(foreign: whole) == whole else { return nil }
        return whole
    }
}
