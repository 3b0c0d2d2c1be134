/// Reads big-endian values one after the other. Throws an error instead of reading beyond the end of the bytes.
struct ByteReader {
    let bytes: UnsafeRawBufferPointer
    private(set) var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var isAtEnd: Bool { offset == bytes.count }

    mutating func uint8() throws(CodecError) -> UInt8 { try number() }
    mutating func uint16() throws(CodecError) -> UInt16 { try number() }
    mutating func uint32() throws(CodecError) -> UInt32 { try number() }
    mutating func int64() throws(CodecError) -> Int64 { try number() }

    mutating func flag(_ field: CodecError.Field) throws(CodecError) -> Bool {
        let byte = try uint8()
        guard byte < 2 else { throw error(field) }
        return byte == 1
    }

    mutating func range(_ count: Int) throws(CodecError) -> Range<Int> {
        guard count <= bytes.count - offset else { throw CodecError(fault: .truncated, offset: bytes.count) }
        defer { offset += count }
        return offset..<offset + count
    }

    /// Reads one byte as a length, then reads that number of bytes.
    mutating func shortRange() throws(CodecError) -> Range<Int> { try range(Int(uint8())) }

    /// Reads one byte as a length, then text of that length. Text that is not valid UTF-8 is an error.
    mutating func shortText(_ field: CodecError.Field) throws(CodecError) -> Range<Int> {
        let range = try shortRange()
        guard UTF8Text.isValid(UnsafeRawBufferPointer(rebasing: bytes[range])) else { throw error(field) }
        return range
    }

    /// Reads one byte as a length, then a token of that length. An empty token is an error.
    mutating func token() throws(CodecError) -> Range<Int> {
        let range = try shortRange()
        guard !range.isEmpty else { throw error(.token) }
        return range
    }

    func text(_ range: Range<Int>) -> String {
        String(decoding: UnsafeRawBufferPointer(rebasing: bytes[range]), as: UTF8.self)
    }

    /// Creates an error for a wrong value of `field`, with the present offset. Call this directly after the field was read.
    func error(_ field: CodecError.Field) -> CodecError { CodecError(fault: .value(field), offset: offset) }

    func end() throws(CodecError) {
        guard isAtEnd else { throw CodecError(fault: .trailing, offset: offset) }
    }

    @inline(__always)
    private mutating func number<T: FixedWidthInteger & BitwiseCopyable>() throws(CodecError) -> T {
        let size = MemoryLayout<T>.size
        guard size <= bytes.count - offset else { throw CodecError(fault: .truncated, offset: bytes.count) }
        defer { offset += size }
        return T(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: T.self))
    }
}

extension [UInt8] {
    mutating func appendBigEndian<T: FixedWidthInteger>(_ value: T) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }

    mutating func putBigEndian(_ value: UInt16, at offset: Int) {
        self[offset] = UInt8(truncatingIfNeeded: value &>> 8)
        self[offset + 1] = UInt8(truncatingIfNeeded: value)
    }

    mutating func putBigEndian(_ value: UInt32, at offset: Int) {
        putBigEndian(UInt16(truncatingIfNeeded: value &>> 16), at: offset)
        putBigEndian(UInt16(truncatingIfNeeded: value), at: offset + 2)
    }

    /// Appends one byte with the number of `bytes`, and then `bytes` themselves.
    mutating func appendShort(_ bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count <= 255, "more than 255 bytes where the length has one")
        append(UInt8(truncatingIfNeeded: bytes.count))
        append(contentsOf: bytes)
    }

    mutating func appendShort(_ text: String) {
        var text = text
        text.withUTF8 { appendShort(UnsafeRawBufferPointer($0)) }
    }
}

/// Why the program cannot decode bytes that the farm wrote: the bytes are damaged, or another version wrote them in its format.
package struct CodecError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Fault: Hashable, Sendable {
        case truncated
        case trailing
        case version(UInt8)
        case value(Field)
    }

    package enum Field: String, Sendable {
        case jobParts, tokens, flags, jobID, options, priority, pushType, receipts, maxAttempts, expiration
        case deadline, registeredAt, collapseID, topic, payload, token, kind, count, switches, why, jobPart
        case template, values
    }

    package let fault: Fault
    /// The offset, in bytes from the start, at which the reader found the fault.
    package let offset: Int

    package var description: String {
        switch fault {
        case .truncated: "ends too early, at byte \(offset)"
        case .trailing: "goes on after its end, at byte \(offset)"
        case .version(let version): "has format version \(version), not known here"
        case .value(let field): "has an impossible value in \(field.rawValue), at byte \(offset)"
        }
    }
}
