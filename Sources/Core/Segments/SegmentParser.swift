import PushModel

/// The reason why a text is not a valid segment, with the position of the error in the text.
package struct SegmentError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The offset of the error in bytes of UTF-8. If the text ends too early, the length of the text.
    package let position: Int
    package let reason: String

    package var description: String { "\(reason), at character \(position + 1)" }
}

extension SegmentExpression {
    /// The largest length of an expression's text, in bytes.
    package static let longest = 4096
    /// The largest number of terms.
    package static let mostTerms = 64
    /// The largest depth of nested parentheses and negations.
    package static let deepest = 32

    /// Reads an expression.
    /// - Throws: ``SegmentError`` with the position of the first error.
    package init(parsing text: String) throws(SegmentError) {
        guard text.utf8.count <= Self.longest else {
            throw SegmentError(
                position: Self.longest, reason: "a segment has at most \(Self.longest) bytes")
        }
        var parser = SegmentParser(text)
        self = try parser.expression()
    }
}

/// Reads a segment's text from start to end, by recursive descent.
private struct SegmentParser {
    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0
    private var terms = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    mutating func expression() throws(SegmentError) -> SegmentExpression {
        let whole = try union()
        guard position == bytes.count else {
            if bytes[position] == UInt8(ascii: ")") { throw fault("this \")\" has no \"(\" before it") }
            throw fault("expected \"&\" or \"|\" between two conditions")
        }
        return whole
    }

    private mutating func union() throws(SegmentError) -> SegmentExpression {
        var parts = [try intersection()]
        while skip("|") { parts.append(try intersection()) }
        return parts.count == 1 ? parts[0] : .or(parts)
    }

    private mutating func intersection() throws(SegmentError) -> SegmentExpression {
        var parts = [try condition()]
        while skip("&") { parts.append(try condition()) }
        return parts.count == 1 ? parts[0] : .and(parts)
    }

    private mutating func condition() throws(SegmentError) -> SegmentExpression {
        skipSpaces()
        let start = position
        guard depth < SegmentExpression.deepest else {
            throw fault("more than \(SegmentExpression.deepest) parentheses and \"!\" are inside each other")
        }
        depth += 1
        defer { depth -= 1 }
        if skip("!") { return .not(try condition()) }
        guard skip("(") else { return try term() }
        let inner = try union()
        guard skip(")") else {
            throw SegmentError(position: start, reason: "this \"(\" has no \")\" after it")
        }
        return inner
    }

    private mutating func term() throws(SegmentError) -> SegmentExpression {
        let start = position
        let name = plainText()
        guard !name.isEmpty else {
            throw fault(
                position == bytes.count
                    ? "the segment ends where a condition is expected" : "expected a condition")
        }
        terms += 1
        guard terms <= SegmentExpression.mostTerms else {
            throw SegmentError(
                position: start, reason: "a segment has at most \(SegmentExpression.mostTerms) conditions")
        }
        if name == "all" { return .all }
        if name == "seen" { return .term(.seenWithin(days: try days())) }
        guard let attribute = SegmentTerm.Attribute(rawValue: name) else {
            throw SegmentError(position: start, reason: Self.unknown(name))
        }
        guard skip(":") else { throw fault("expected \":\" and a value after \"\(name)\"") }
        let value = try value(of: name)
        if skip("*") { return .term(.prefix(attribute, value)) }
        guard !value.isEmpty else { throw fault("expected a value after \"\(name):\"") }
        return .term(.value(attribute, value))
    }

    private mutating func days() throws(SegmentError) -> Int {
        guard skip("<") else {
            throw fault("expected \"<\" and a number of days after \"seen\", as in seen<30d")
        }
        skipSpaces()
        let start = position
        let text = plainText()
        guard text.hasSuffix("d"), let days = Int(foreign: text.dropLast()), SegmentTerm.days.contains(days)
        else {
            let (first, last) = (SegmentTerm.days.lowerBound, SegmentTerm.days.upperBound)
            throw SegmentError(
                position: start, reason: "expected a number of days from \(first)d to \(last)d")
        }
        return days
    }

    private mutating func value(of name: String) throws(SegmentError) -> String {
        skipSpaces()
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { return plainText() }
        let start = position
        var text: [UInt8] = []
        position += 1
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            if bytes[position] == UInt8(ascii: "\\") { position += 1 }
            guard position < bytes.count else { break }
            text.append(bytes[position])
            position += 1
        }
        guard position < bytes.count else {
            throw SegmentError(position: start, reason: "this quotation mark has no closing quotation mark")
        }
        position += 1
        guard !text.isEmpty else {
            throw SegmentError(position: start, reason: "expected a value after \"\(name):\"")
        }
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func plainText() -> String {
        let start = position
        while position < bytes.count, SegmentTerm.isPlain(bytes[position]) { position += 1 }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    /// Skips spaces, and then `character` if the text continues with it. Returns whether the character was skipped.
    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        skipSpaces()
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func skipSpaces() {
        while position < bytes.count, bytes[position] == 0x20 || (0x09...0x0D).contains(bytes[position]) {
            position += 1
        }
    }

    private func fault(_ reason: String) -> SegmentError { SegmentError(position: position, reason: reason) }

    private static func unknown(_ name: String) -> String {
        let names = SegmentTerm.Attribute.allCases.map(\.rawValue) + ["seen", "all"]
        let text = "there is no attribute \"\(name.prefix(40))\""
        guard let nearest = NearestWord.find(name, among: names) else {
            return text + "; use " + names.joined(separator: ", ")
        }
        return text + "; did you mean \"\(nearest)\"?"
    }
}
