/// Decodes the hex text of a device token.
enum HexToken {
    /// The number of bytes that ``decodePlain(_:from:into:)`` may write.
    static let room = JobLimits.tokenBytes.upperBound + 4

    /// Decodes a JSON string that is a token without escapes, eight digits at a time.
    ///
    /// - Returns: the number of bytes written, and the offset after the closing quote; nil for any other value.
    @inline(__always)
    static func decodePlain(
        _ bytes: UnsafeRawBufferPointer, from start: Int, into target: UnsafeMutableRawBufferPointer
    ) -> (count: Int, end: Int)? {
        guard start < bytes.count, bytes[start] == UInt8(ascii: "\"") else { return nil }
        var offset = start + 1
        var count = 0
        while bytes.count - offset >= 8, count < JobLimits.tokenBytes.upperBound {
            let digits = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            guard let four = Hexadecimal.fourBytes(digits) else { break }
            target.storeBytes(of: four.littleEndian, toByteOffset: count, as: UInt32.self)
            offset += 8
            count += 4
        }
        while bytes.count - offset >= 2, let high = Hexadecimal.value(of: bytes[offset]),
            let low = Hexadecimal.value(of: bytes[offset + 1]), count < JobLimits.tokenBytes.upperBound
        {
            target[count] = high &<< 4 | low
            offset += 2
            count += 1
        }
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: "\""),
            JobLimits.tokenBytes.contains(count)
        else { return nil }
        return (count, offset + 1)
    }

    static func decode(_ text: [UInt8]) throws(MalformedPush.Fault) -> [UInt8] {
        guard text.allSatisfy({ Hexadecimal.value(of: $0) != nil }) else { throw .tokenNotHex }
        guard text.count % 2 == 0 else { throw .tokenOddDigits }
        let count = text.count / 2
        guard count >= JobLimits.tokenBytes.lowerBound else { throw .tokenTooShort }
        guard count <= JobLimits.tokenBytes.upperBound else { throw .tokenTooLong }
        return [UInt8](unsafeUninitializedCapacity: count) { bytes, filled in
            for index in 0..<count {
                let high = Hexadecimal.value(of: text[2 * index]) ?? 0
                let low = Hexadecimal.value(of: text[2 * index + 1]) ?? 0
                bytes[index] = high << 4 | low
            }
            filled = count
        }
    }
}

/// Reads device tokens from texts other than jobs.
package enum DeviceToken {
    /// Why a text is not a device token.
    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        package let description: String
    }

    /// Decodes a token from hexadecimal of either case. The number of bytes must be within the limits for tokens in
    /// jobs.
    package static func bytes(of text: some StringProtocol) throws(Fault) -> [UInt8] {
        do throws(MalformedPush.Fault) { return try HexToken.decode(Array(text.utf8)) } catch {
            throw Fault(description: error.reason)
        }
    }
}

/// Computes the shard of a device token: the XXH64, seed 0, of its raw bytes, modulo the number of shards.
///
/// docs/internals/sharding.md publishes this definition. The definition never changes: otherwise a token's new pushes could go to
/// another shard than its older pushes, and overtake them.
package enum ShardHash {
    package static func shard(of token: UnsafeRawBufferPointer, shards: Int) -> Int {
        Int(XXH64.hash(token, seed: 0) % UInt64(shards))
    }

    package static func shard(of token: [UInt8], shards: Int) -> Int {
        token.withUnsafeBytes { shard(of: $0, shards: shards) }
    }
}
