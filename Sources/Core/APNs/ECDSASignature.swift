/// The two forms of a P-256 signature: raw (r and s, 32 bytes each) and DER (a sequence of two integers).
/// - Source: RFC 7518, 3.4; RFC 3279, 2.2.3.
package enum ECDSASignature {
    private static let half = ProviderToken.signatureLength / 2

    /// The raw form of a signature in DER; nil if that is malformed.
    package static func raw(fromDER bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        var outer = DERReader(bytes)
        guard let sequence = outer.next(DERReader.Tag.sequence), outer.isAtEnd else { return nil }
        var inner = DERReader(sequence)
        guard let r = inner.next(DERReader.Tag.integer), let s = inner.next(DERReader.Tag.integer),
            inner.isAtEnd,
            let r = padded(r), let s = padded(s)
        else { return nil }
        return r + s
    }

    /// The raw form of a signature in either form; 64 bytes are raw.
    package static func raw(fromEither bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        bytes.count == ProviderToken.signatureLength ? Array(bytes) : raw(fromDER: bytes)
    }

    /// The DER form of a raw signature; nil unless that has 64 bytes.
    package static func der(fromRaw bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        guard bytes.count == ProviderToken.signatureLength else { return nil }
        let integers = integer(bytes[..<half]) + integer(bytes[half...])
        return [DERReader.Tag.sequence, UInt8(integers.count)] + integers
    }

    /// A positive integer's content as 32 bytes.
    private static func padded(_ content: UnsafeRawBufferPointer) -> [UInt8]? {
        guard let first = content.first, first & 0x80 == 0 else { return nil }
        let digits = content.drop { $0 == 0 }
        guard digits.count <= half else { return nil }
        return Array(repeating: 0, count: half - digits.count) + digits
    }

    private static func integer(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var digits = Array(bytes.drop { $0 == 0 })
        if digits.first.map({ $0 & 0x80 != 0 }) ?? true { digits.insert(0, at: 0) }
        return [DERReader.Tag.integer, UInt8(digits.count)] + digits
    }
}
