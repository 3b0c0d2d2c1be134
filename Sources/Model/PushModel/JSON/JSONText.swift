/// Writes JSON text from start to end and adds the commas between values.
package struct JSONText: Sendable {
    /// The text so far, in UTF-8.
    package private(set) var bytes: [UInt8] = []
    private var needsComma = false

    package init() {}

    /// Creates an empty text with room for `capacity` bytes.
    package init(capacity: Int) { bytes.reserveCapacity(capacity) }

    /// Returns one object as text on one line; `members` writes the object's members.
    package static func object(_ members: (inout JSONText) -> Void) -> String {
        var text = JSONText()
        text.object(members)
        return text.string
    }

    package var string: String { String(decoding: bytes, as: UTF8.self) }

    package mutating func beginObject() { begin(UInt8(ascii: "{")) }
    package mutating func endObject() { end(UInt8(ascii: "}")) }
    package mutating func beginArray() { begin(UInt8(ascii: "[")) }
    package mutating func endArray() { end(UInt8(ascii: "]")) }

    package mutating func object(_ members: (inout JSONText) -> Void) {
        beginObject()
        members(&self)
        endObject()
    }

    package mutating func array(_ elements: (inout JSONText) -> Void) {
        beginArray()
        elements(&self)
        endArray()
    }

    /// Writes the name of a member. The member's value must follow.
    package mutating func key(_ name: String) {
        value(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    package mutating func value(_ text: String) {
        comma()
        Self.append(text, to: &bytes)
    }

    package mutating func value(_ number: some FixedWidthInteger) {
        comma()
        bytes.append(contentsOf: String(number).utf8)
    }

    /// Writes a number. NaN and infinity become null, because JSON cannot express them.
    package mutating func value(_ number: Double) {
        guard number.isFinite else { return null() }
        comma()
        bytes.append(contentsOf: String(number).utf8)
    }

    package mutating func value(_ flag: Bool) { word(flag ? "true" : "false") }

    package mutating func null() { word("null") }

    /// Writes a value that is already encoded as JSON.
    package mutating func value(json: some Sequence<UInt8>) {
        comma()
        bytes.append(contentsOf: json)
    }

    package mutating func member(_ name: String, _ text: String) {
        key(name)
        value(text)
    }

    package mutating func member(_ name: String, _ number: some FixedWidthInteger) {
        key(name)
        value(number)
    }

    package mutating func member(_ name: String, _ number: Double) {
        key(name)
        value(number)
    }

    package mutating func member(_ name: String, _ flag: Bool) {
        key(name)
        value(flag)
    }

    /// Writes a member whose value is already encoded as JSON.
    package mutating func member(_ name: String, json: some Sequence<UInt8>) {
        key(name)
        value(json: json)
    }

    package mutating func member(_ name: String, object members: (inout JSONText) -> Void) {
        key(name)
        object(members)
    }

    /// Appends `text` as a JSON string, in quotes.
    package static func append(_ text: String, to bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0), to: &bytes) }
    }

    /// Appends UTF-8 as a JSON string in quotes. Each byte that is not UTF-8 becomes U+FFFD.
    ///
    /// This function also escapes the control characters from U+007F to U+009F. JSON allows them without an escape, but a
    /// terminal would interpret them as commands.
    package static func append(_ text: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        var start = 0
        var offset = 0
        while offset < text.count {
            let length = plainLength(text, at: offset)
            if length > 0 {
                offset += length
                continue
            }
            bytes.append(contentsOf: text[start..<offset])
            offset += appendEscaped(text, at: offset, to: &bytes)
            start = offset
        }
        bytes.append(contentsOf: text[start...])
        bytes.append(UInt8(ascii: "\""))
    }

    /// The length in bytes of the character at `offset` if it needs no escape; 0 if it needs an escape.
    @inline(__always)
    private static func plainLength(_ text: UnsafeRawBufferPointer, at offset: Int) -> Int {
        switch text[offset] {
        case 0..<0x20, 0x7F, UInt8(ascii: "\""), UInt8(ascii: "\\"): 0
        case 0x80...: isLateControl(text, at: offset) ? 0 : UTF8Text.sequenceLength(text, at: offset)
        default: 1
        }
    }

    /// Whether a control character from U+0080 to U+009F is at the offset.
    @inline(__always)
    private static func isLateControl(_ text: UnsafeRawBufferPointer, at offset: Int) -> Bool {
        text[offset] == 0xC2 && text.count - offset > 1 && (0x80...0x9F).contains(text[offset + 1])
    }

    /// - Returns: the number of bytes of `text` that the appended escape stands for.
    private static func appendEscaped(
        _ text: UnsafeRawBufferPointer, at offset: Int, to bytes: inout [UInt8]
    ) -> Int {
        func appendNumber(_ control: UInt8) {
            bytes.append(contentsOf: "\\u00".utf8)
            withUnsafeBytes(of: control) { bytes.append(contentsOf: Hexadecimal.text(of: $0).utf8) }
        }
        switch text[offset] {
        case UInt8(ascii: "\""): bytes.append(contentsOf: "\\\"".utf8)
        case UInt8(ascii: "\\"): bytes.append(contentsOf: "\\\\".utf8)
        case 0x0A: bytes.append(contentsOf: "\\n".utf8)
        case 0x0D: bytes.append(contentsOf: "\\r".utf8)
        case 0x09: bytes.append(contentsOf: "\\t".utf8)
        case let byte where byte < 0x80: appendNumber(byte)
        case _ where isLateControl(text, at: offset):
            appendNumber(text[offset + 1])
            return 2
        default: bytes.append(contentsOf: "\u{FFFD}".utf8)
        }
        return 1
    }

    private mutating func word(_ word: StaticString) {
        comma()
        bytes.append(contentsOf: UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
    }

    private mutating func begin(_ bracket: UInt8) {
        comma()
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func end(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    private mutating func comma() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }
}
