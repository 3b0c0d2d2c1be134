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

    /// A length of one byte, then the bytes.
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
