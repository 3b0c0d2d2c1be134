/// Finds the placeholders in the strings of a payload.
///
/// A string value may contain the placeholders `{{name}}` and `{{name|default}}`. The names of an object's members are not
/// searched for placeholders. If a string is `"{{=name}}"`, the value replaces the whole string, including the quotes.
/// `{{{{` stands for the text `{{`.
struct TemplateCompiler {
    private static let longestName = 64

    private let bytes: UnsafeRawBufferPointer
    private let source: Range<Int>
    private(set) var template = Template()
    private(set) var placeholders: [PayloadTemplate.Placeholder] = []
    private(set) var isPlain = true
    /// The bytes since the last placeholder. They become the literal before the next placeholder.
    private var literal: [UInt8] = []
    /// The position of the first byte that is not yet copied into a literal or read as a placeholder.
    private var done: Int

    init(_ bytes: UnsafeRawBufferPointer, _ source: Range<Int>) {
        (self.bytes, self.source) = (bytes, source)
        done = source.lowerBound
    }

    mutating func compile() throws(TemplateFault) {
        var position = source.lowerBound
        while let quote = bytes[position..<source.upperBound].firstIndex(of: UInt8(ascii: "\"")) {
            let end = stringEnd(from: quote + 1)
            if !isName(before: end + 1) { try compile(string: quote + 1..<end) }
            position = end + 1
        }
        copy(upTo: source.upperBound)
        endPart(slot: nil)
    }

    /// The position of the quote that ends the string whose content begins at `start`.
    private func stringEnd(from start: Int) -> Int {
        var position = start
        while bytes[position] != UInt8(ascii: "\"") {
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        return position
    }

    /// Whether the string that ends before `position` is the name of an object's member, because a colon follows.
    private func isName(before position: Int) -> Bool {
        let next = bytes[position..<source.upperBound].first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        return next == UInt8(ascii: ":")
    }

    private mutating func compile(string: Range<Int>) throws(TemplateFault) {
        var position = string.lowerBound
        while let open = find("{{", in: position..<string.upperBound) {
            isPlain = false
            if matches("{{{{", at: open, before: string.upperBound) {
                copy(upTo: open + 2)
                (done, position) = (open + 4, open + 4)
                continue
            }
            guard let close = find("}}", in: open + 2..<string.upperBound) else {
                throw TemplateFault(open, "\"{{\" has no \"}}\"; write \"{{{{\" for the text \"{{\"")
            }
            let placeholder = try placeholder(open + 2..<close)
            guard !placeholder.isJSON || open == string.lowerBound && close + 2 == string.upperBound else {
                throw TemplateFault(
                    open, "a placeholder with \"=\" must be the whole string, such as \"{{=badge|0}}\"")
            }
            copy(upTo: placeholder.isJSON ? open - 1 : open)
            endPart(slot: try slot(of: placeholder))
            done = placeholder.isJSON ? close + 3 : close + 2
            position = close + 2
        }
    }

    private func placeholder(_ inside: Range<Int>) throws(TemplateFault) -> PayloadTemplate.Placeholder {
        let text = bytes[inside]
        guard find("{{", in: inside) == nil else {
            throw TemplateFault(
                inside.lowerBound - 2, "a placeholder contains a second \"{{\" before its \"}}\"")
        }
        let bar = text.firstIndex(of: UInt8(ascii: "|"))
        let isJSON = text.first == UInt8(ascii: "=")
        let start = isJSON ? inside.lowerBound + 1 : inside.lowerBound
        let name = start..<max(start, bar ?? inside.upperBound)
        let isName = bytes[name].allSatisfy { $0.isLetterOrDigit || ".-_".utf8.contains($0) }
        guard isName, (1...Self.longestName).contains(name.count) else {
            throw TemplateFault(
                inside.lowerBound - 2,
                "the name of a placeholder has 1 to \(Self.longestName) letters, digits, \".\", \"-\" and \"_\"; write "
                    + "\"{{{{\" for the text \"{{\"")
        }
        let fallback = bar.map { $0 + 1..<inside.upperBound }
        if isJSON, let fallback, !isPlainValue(fallback) {
            throw TemplateFault(
                fallback.lowerBound,
                "the default of a placeholder with \"=\" must be a number, true, false or null")
        }
        return PayloadTemplate.Placeholder(name: name, isJSON: isJSON, fallback: fallback)
    }

    /// Whether the text is a JSON number, true, false or null.
    private func isPlainValue(_ text: Range<Int>) -> Bool {
        let text = UnsafeRawBufferPointer(rebasing: bytes[text])
        guard let first = text.first, first == UInt8(ascii: "-") || first.isLetterOrDigit,
            text.last?.isLetterOrDigit == true
        else { return false }
        return (try? JSONScanner.validate(text)) != nil
    }

    private mutating func slot(
        of placeholder: PayloadTemplate.Placeholder
    ) throws(TemplateFault) -> Int {
        func text(_ range: Range<Int>?) -> Slice<UnsafeRawBufferPointer>? { range.map { bytes[$0] } }
        func isSame(_ a: Range<Int>?, _ b: Range<Int>?) -> Bool {
            guard let a = text(a), let b = text(b) else { return a == nil && b == nil }
            return a.elementsEqual(b)
        }
        let known = placeholders.firstIndex {
            $0.isJSON == placeholder.isJSON && isSame($0.name, placeholder.name)
                && isSame($0.fallback, placeholder.fallback)
        }
        if let known { return known }
        guard placeholders.count < Template.mostSlots else {
            throw TemplateFault(
                placeholder.name.lowerBound,
                "a payload may have at most \(Template.mostSlots) different placeholders")
        }
        placeholders.append(placeholder)
        template.addSlot(default: text(placeholder.fallback).map { UnsafeRawBufferPointer(rebasing: $0) })
        return placeholders.count - 1
    }

    private mutating func copy(upTo end: Int) {
        literal.append(contentsOf: bytes[done..<end])
        done = end
    }

    private mutating func endPart(slot: Int?) {
        literal.withUnsafeBytes { template.addPart($0, slot: slot) }
        literal.removeAll(keepingCapacity: true)
    }

    /// The first position of `word` in `range`; nil if the range does not contain the word.
    private func find(_ word: StaticString, in range: Range<Int>) -> Int? {
        range.first { matches(word, at: $0, before: range.upperBound) }
    }

    private func matches(_ word: StaticString, at position: Int, before end: Int) -> Bool {
        guard end - position >= word.utf8CodeUnitCount else { return false }
        return (0..<word.utf8CodeUnitCount).allSatisfy { bytes[position + $0] == word.utf8Start[$0] }
    }
}
