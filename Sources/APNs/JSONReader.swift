/// Reads the members of one small JSON object, such as a refusal's body or a provider token's claims.
///
/// Strict about the object itself and its scalars; nested values are skipped by their brackets and strings.
struct JSONReader {
    enum Value: Hashable {
        case string(String)
        /// A number without its fraction; nil if it has an exponent or does not fit.
        case number(Int64?)
        case other
    }

    /// The deepest nesting that is skipped.
    static let deepest = 64

    private let bytes: UnsafeRawBufferPointer
    private var position = 0
    private var isInside = false
    private var isFirst = true
    private var isBroken = false

    /// `bytes` must outlive the reader.
    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        skipSpace()
        isInside = take("{")
        isBroken = !isInside
    }

    /// Whether all of the input was one well-formed object; to be asked when ``nextMember()`` has answered nil.
    var isComplete: Bool { !isBroken && !isInside && position == bytes.count }

    /// The next member, or nil at the object's end and at the first fault.
    mutating func nextMember() -> (key: String, value: Value)? {
        guard isInside, !isBroken else { return nil }
        skipSpace()
        if take("}") {
            isInside = false
            skipSpace()
            return nil
        }
        if !isFirst {
            guard take(",") else { return fault() }
            skipSpace()
        }
        isFirst = false
        guard let key = string() else { return fault() }
        skipSpace()
        guard take(":") else { return fault() }
        skipSpace()
        guard let value = value() else { return fault() }
        return (key, value)
    }

    private mutating func fault() -> (key: String, value: Value)? {
        isBroken = true
        return nil
    }

    private mutating func value() -> Value? {
        guard position < bytes.count else { return nil }
        switch bytes[position] {
        case UInt8(ascii: "\""): return string().map { .string($0) }
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return number()
        case UInt8(ascii: "{"), UInt8(ascii: "["): return skipNested() ? .other : nil
        default: return take("true") || take("false") || take("null") ? .other : nil
        }
    }

    private mutating func number() -> Value? {
        let isNegative = take("-")
        var value: Int64? = 0
        let start = position
        while let digit = digit() {
            value = value.flatMap { Self.append(digit, to: $0, isNegative) }
            position += 1
        }
        guard position > start else { return nil }
        if take(".") {
            guard digit() != nil else { return nil }
            while digit() != nil { position += 1 }
        }
        if take("e") || take("E") {
            value = nil
            if !take("-") { _ = take("+") }
            guard digit() != nil else { return nil }
            while digit() != nil { position += 1 }
        }
        return .number(value)
    }

    private func digit() -> UInt8? {
        guard position < bytes.count, bytes[position] &- UInt8(ascii: "0") < 10 else { return nil }
        return bytes[position] - UInt8(ascii: "0")
    }

    private static func append(_ digit: UInt8, to value: Int64, _ isNegative: Bool) -> Int64? {
        let (tens, overflow) = value.multipliedReportingOverflow(by: 10)
        guard !overflow else { return nil }
        let (sum, carry) =
            isNegative
            ? tens.subtractingReportingOverflow(Int64(digit)) : tens.addingReportingOverflow(Int64(digit))
        return carry ? nil : sum
    }

    /// Reads a string with its escapes; bytes that are not UTF-8 are repaired.
    private mutating func string() -> String? {
        guard take("\"") else { return nil }
        var text: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): guard escape(into: &text) else { return nil }
            default: text.append(byte)
            }
        }
        return nil
    }

    private mutating func escape(into text: inout [UInt8]) -> Bool {
        guard position < bytes.count else { return false }
        let byte = bytes[position]
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            guard let scalar = escapedScalar() else { return false }
            text.append(contentsOf: String(scalar).utf8)
        default: return false
        }
        return true
    }

    private mutating func escapedScalar() -> Unicode.Scalar? {
        guard let unit = hexUnit() else { return nil }
        guard UTF16.isLeadSurrogate(unit) else { return Unicode.Scalar(unit) ?? "\u{FFFD}" }
        guard take("\\u"), let low = hexUnit() else { return nil }
        guard UTF16.isTrailSurrogate(low) else { return "\u{FFFD}" }
        return Unicode.Scalar(0x10000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(low) - 0xDC00))
    }

    private mutating func hexUnit() -> UInt16? {
        guard position + 4 <= bytes.count else { return nil }
        var unit: UInt16 = 0
        for byte in bytes[position..<position + 4] {
            guard let nibble = Hexadecimal.nibble(byte) else { return nil }
            unit = unit << 4 | UInt16(nibble)
        }
        position += 4
        return unit
    }

    private mutating func skipNested() -> Bool {
        var depth = 0
        var isObject: UInt64 = 0
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                guard string() != nil else { return false }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                guard depth < Self.deepest else { return false }
                depth += 1
                isObject = isObject << 1 | (bytes[position] == UInt8(ascii: "{") ? 1 : 0)
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard (isObject & 1 == 1) == (bytes[position] == UInt8(ascii: "}")) else { return false }
                depth -= 1
                isObject >>= 1
            default: break
            }
            position += 1
            if depth == 0 { return true }
        }
        return false
    }

    private mutating func skipSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    private mutating func take(_ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard position + count <= bytes.count else { return false }
        for offset in 0..<count where bytes[position + offset] != word.utf8Start[offset] { return false }
        position += count
        return true
    }
}
