#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The fields of an answer that a client session looks at.
enum AnswerField {
    case status, retryAfter, messageID, uniqueID

    init?(_ name: UnsafeRawBufferPointer) {
        switch name.count {
        case 7 where name.equals(":status"): self = .status
        case 7 where name.equals("apns-id"): self = .messageID
        case 11 where name.equals("retry-after"): self = .retryAfter
        case 14 where name.equals("apns-unique-id"): self = .uniqueID
        default: return nil
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Compares with a text of the same length.
    @inline(__always)
    func equals(_ text: StaticString) -> Bool {
        memcmp(baseAddress!, text.utf8Start, text.utf8CodeUnitCount) == 0
    }
}

/// A decimal number of 1 to 9 digits; nil for anything else.
func decimal(_ bytes: UnsafeRawBufferPointer) -> UInt32? {
    guard (1...9).contains(bytes.count) else { return nil }
    var number: UInt32 = 0
    for byte in bytes {
        guard byte >= 0x30, byte <= 0x39 else { return nil }
        number = number * 10 + UInt32(byte - 0x30)
    }
    return number
}
