/// A job's payload as a template, with the names of its placeholders.
struct PayloadTemplate {
    /// A placeholder of the payload. Placeholders with the same name, `isJSON` and default share a slot.
    struct Placeholder {
        let name: Range<Int>
        /// Whether a value replaces the whole string with its quotes, as in `"badge": "{{=badge}}"`.
        let isJSON: Bool
        let fallback: Range<Int>?
    }

    /// The range of the payload in the job's bytes.
    let source: Range<Int>
    let template: Template
    /// The placeholder of each slot.
    let placeholders: [Placeholder]
    /// True if no string value of the payload contains `{{`, so that each rendered payload equals the payload.
    let isPlain: Bool

    /// The maximum size in bytes of a payload with placeholders, before values are inserted.
    static let longestSource = 16_384
    /// The maximum number of members in the object `values` of a push.
    static let mostValues = 64

    /// Compiles a payload, which must be valid JSON.
    init(
        compiling source: Range<Int>, of bytes: UnsafeRawBufferPointer
    ) throws(TemplateFault) {
        var compiler = TemplateCompiler(bytes, source)
        try compiler.compile()
        self.source = source
        (template, placeholders, isPlain) = (compiler.template, compiler.placeholders, compiler.isPlain)
    }

    /// Reads the values of one push. Sets `ranges` to one element for each slot: the value's range in the job's bytes, or nil.
    ///
    /// - Parameters:
    ///   - position: the position of the object `values`, which is valid JSON; nil if the push has no values.
    ///   - start: the position of the push, which a fault has if the push has no values.
    /// - Returns: the first fault; nil if all placeholders have a value or a default.
    func read(
        at position: Int?, of bytes: UnsafeRawBufferPointer, start: Int, into ranges: inout [Range<Int>?]
    ) throws(JSONError) -> ValueFault? {
        ranges.removeAll(keepingCapacity: true)
        ranges.append(contentsOf: repeatElement(nil, count: placeholders.count))
        if let position, let fault = try read(at: position, of: bytes, &ranges) { return fault }
        for (slot, placeholder) in placeholders.enumerated()
        where ranges[slot] == nil && !template.hasDefault(slot) {
            let name = String(
                decoding: UnsafeRawBufferPointer(rebasing: bytes[placeholder.name]), as: UTF8.self)
            return ValueFault(
                name: name, position: position ?? start,
                reason: "is missing, and its placeholder has no default as in {{name|there}}")
        }
        return nil
    }

    private func read(
        at position: Int, of bytes: UnsafeRawBufferPointer, _ ranges: inout [Range<Int>?]
    ) throws(JSONError) -> ValueFault? {
        var scanner = JSONScanner(bytes, position: position, depth: 2)
        var count = 0
        try scanner.enterObject()
        while let name = try scanner.nextKey() {
            count += 1
            guard count <= Self.mostValues else {
                return ValueFault(
                    name: nil, position: position, reason: "may have at most \(Self.mostValues) values")
            }
            let kind = try scanner.kind()
            guard kind == .string || kind == .number || kind == .boolean else {
                return ValueFault(
                    name: scanner.text(name), position: scanner.position,
                    reason: "must be a string, a number, true or false"
                        + (kind == .null ? "; leave it out for its default" : ""))
            }
            let value = try scanner.skipValue()
            if let fault = fill(name, value, kind, &ranges, scanner) { return fault }
        }
        return nil
    }

    /// Assigns a value to all slots whose placeholder has the value's name.
    private func fill(
        _ name: JSONString, _ value: Range<Int>, _ kind: JSONKind, _ ranges: inout [Range<Int>?],
        _ scanner: JSONScanner
    ) -> ValueFault? {
        let text = UnsafeRawBufferPointer(rebasing: scanner.bytes[name.content])
        var plain: [UInt8]?
        if name.hasEscapes {
            var unescaped: [UInt8] = []
            scanner.append(name, to: &unescaped)
            plain = unescaped
        }
        for (slot, placeholder) in placeholders.enumerated() {
            let wanted = UnsafeRawBufferPointer(rebasing: scanner.bytes[placeholder.name])
            guard plain?.elementsEqual(wanted) ?? wanted.elementsEqual(text) else { continue }
            guard ranges[slot] == nil else {
                return ValueFault(
                    name: scanner.text(name), position: name.content.lowerBound - 1, reason: "is given twice")
            }
            let isText = kind == .string && !placeholder.isJSON
            ranges[slot] = isText ? value.lowerBound + 1..<value.upperBound - 1 : value
        }
        return nil
    }
}

/// Why the values of a push do not fit the job's template.
struct ValueFault {
    /// The name of the wrong or missing value; nil if the object `values` is wrong as a whole.
    let name: String?
    let position: Int
    /// Completes a sentence that begins with the field's name, such as `is given twice`.
    let reason: String
}

/// Why a payload is not a valid template.
struct TemplateFault: Error, Hashable {
    let position: Int
    let reason: String

    init(_ position: Int, _ reason: String) { (self.position, self.reason) = (position, reason) }
}
