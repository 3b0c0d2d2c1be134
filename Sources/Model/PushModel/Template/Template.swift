/// A payload with placeholders, compiled into literal pieces of JSON and slots for values.
///
/// Literals, defaults and values are already JSON text, so rendering only concatenates them. The encoding, with big-endian
/// numbers:
///
///     template := slots u8 | default(slot)* | parts u16 | part*
///     part     := slot u8 (255: none) | length u16 | literal, which precedes the slot
///     default  := a text as in ``SlotText``, or no text
package struct Template: Hashable, Sendable {
    struct Part: Hashable, Sendable {
        /// The range of the literal in `text`.
        let literal: Range<Int>
        /// The slot that follows the literal; nil if the template ends after the literal.
        let slot: Int?
    }

    static let mostSlots = 64
    /// The size in bytes of the largest payload that any push type allows.
    static let longestRendered = PushType.allCases.map(\.payloadLimit).max() ?? 0
    private static let noSlot: UInt8 = 255

    /// Literals and defaults.
    private var text: [UInt8] = []
    private var parts: [Part] = []
    private var defaults: [Range<Int>?] = []
    /// For each slot, the number of parts in which the slot follows the literal.
    private var uses: [Int] = []
    /// The number of bytes of all literals together.
    package private(set) var literalBytes = 0

    init() {}

    var slots: Int { defaults.count }

    func hasDefault(_ slot: Int) -> Bool { defaults[slot] != nil }

    /// - Parameter fallback: the default, for pushes that have no value for the slot; nil if each push must have a value.
    mutating func addSlot(default fallback: UnsafeRawBufferPointer?) {
        defaults.append(fallback.map { keep($0) })
        uses.append(0)
    }

    /// Adds a literal, and the slot that follows the literal. The slot must exist.
    mutating func addPart(_ literal: UnsafeRawBufferPointer, slot: Int?) {
        parts.append(Part(literal: keep(literal), slot: slot))
        literalBytes += literal.count
        if let slot { uses[slot] += 1 }
    }

    private mutating func keep(_ bytes: UnsafeRawBufferPointer) -> Range<Int> {
        defer { text.append(contentsOf: bytes) }
        return text.count..<text.count + bytes.count
    }

    // MARK: Rendering

    /// The size in bytes of the payload that these values give.
    ///
    /// - Parameter values: for each slot, the range of the value; nil means the slot's default.
    func size(with values: [Range<Int>?]) -> Int {
        var size = literalBytes
        for slot in 0..<slots { size += uses[slot] * (values[slot] ?? defaults[slot] ?? 0..<0).count }
        return size
    }

    /// Appends the payload to `bytes`.
    ///
    /// - Parameter values: for each slot, the range of the value in `source`; nil means the slot's default.
    func render(
        _ values: [Range<Int>?], of source: UnsafeRawBufferPointer, to bytes: inout [UInt8]
    ) {
        for part in parts {
            bytes.append(contentsOf: text[part.literal])
            guard let slot = part.slot else { continue }
            if let value = values[slot] {
                bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: source[value]))
            } else if let fallback = defaults[slot] {
                bytes.append(contentsOf: text[fallback])
            }
        }
    }

    // MARK: Coding

    /// The encoded template. A literal must have at most 65,535 bytes, and the template must have at most 65,535 parts.
    var encoded: [UInt8] {
        var bytes: [UInt8] = [UInt8(truncatingIfNeeded: slots)]
        text.withUnsafeBytes { text in
            for fallback in defaults {
                SlotText.write(fallback.map { UnsafeRawBufferPointer(rebasing: text[$0]) }, to: &bytes)
            }
            bytes.appendBigEndian(UInt16(truncatingIfNeeded: parts.count))
            for part in parts {
                bytes.append(part.slot.map { UInt8(truncatingIfNeeded: $0) } ?? Self.noSlot)
                bytes.appendBigEndian(UInt16(truncatingIfNeeded: part.literal.count))
                bytes.append(contentsOf: text[part.literal])
            }
        }
        return bytes
    }

    init(from reader: inout ByteReader) throws(CodecError) {
        let slots = try Int(reader.uint8())
        guard slots <= Self.mostSlots else { throw reader.error(.template) }
        for _ in 0..<slots {
            let fallback = try SlotText.read(&reader)
            addSlot(default: fallback.map { UnsafeRawBufferPointer(rebasing: reader.bytes[$0]) })
        }
        for _ in 0..<Int(try reader.uint16()) {
            let number = try reader.uint8()
            let slot = number == Self.noSlot ? nil : Int(number)
            guard slot.map({ $0 < slots }) ?? true else { throw reader.error(.template) }
            let literal = try reader.range(Int(reader.uint16()))
            addPart(UnsafeRawBufferPointer(rebasing: reader.bytes[literal]), slot: slot)
        }
    }
}

/// The encoded text of one slot: a value, a default, or no text.
///
/// The first byte is the length of the text, 0 to 253, and the text follows. If the first byte is 254, the length follows as a
/// big-endian `UInt16`, and then the text. If the first byte is 255, there is no text.
enum SlotText {
    private static let longLength: UInt8 = 254
    private static let none: UInt8 = 255
    static let longest = Int(UInt16.max)

    /// - Parameter text: at most ``longest`` bytes.
    static func write(_ text: UnsafeRawBufferPointer?, to bytes: inout [UInt8]) {
        guard let text else { return bytes.append(none) }
        precondition(text.count <= longest, "a value of \(text.count) bytes")
        if text.count < Int(longLength) {
            bytes.append(UInt8(truncatingIfNeeded: text.count))
        } else {
            bytes.append(longLength)
            bytes.appendBigEndian(UInt16(truncatingIfNeeded: text.count))
        }
        bytes.append(contentsOf: text)
    }

    static func read(_ reader: inout ByteReader) throws(CodecError) -> Range<Int>? {
        let length = try reader.uint8()
        if length == none { return nil }
        return try reader.range(length == longLength ? Int(reader.uint16()) : Int(length))
    }
}
