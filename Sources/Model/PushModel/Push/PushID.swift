/// The `apns-id` of a push. The same job and token always give the same id, so the push has this id in the logs of all systems.
///
/// The upper half of the id is an XXH64 hash with the seed 1, and the lower half is an XXH64 hash with the seed 2. The input of
/// both hashes is the job's id in UTF-8, a zero byte and the token's raw bytes. Six bits are replaced, so that the id is a UUID
/// of version 4 (RFC 9562, 5.4): some gateways and proxies refuse UUIDs of a later version. The id is big-endian.
package struct PushID: Hashable, Sendable, CustomStringConvertible {
    package let high: UInt64
    package let low: UInt64

    /// The state of both hashes after the job's id. All pushes of a job share this state, so callers can compute it once for many
    /// pushes.
    package struct Job: Sendable {
        private var first = XXH64(seed: 1)
        private var second = XXH64(seed: 2)

        package init(id: UnsafeRawBufferPointer) {
            first.update(id)
            first.update(0)
            second.update(id)
            second.update(0)
        }

        package init(id: String) {
            var id = id
            self = id.withUTF8 { Self(id: UnsafeRawBufferPointer($0)) }
        }

        package func pushID(token: UnsafeRawBufferPointer) -> PushID {
            var first = first
            var second = second
            first.update(token)
            second.update(token)
            return PushID(high: first.digest, low: second.digest)
        }

        /// The mark of the push in audit records (``PushID/mark``).
        package func mark(token: UnsafeRawBufferPointer) -> UInt64 {
            var first = first
            first.update(token)
            return PushID.marked(first.digest)
        }
    }

    /// The mark of the push in audit records: the upper half of the push's id, with the UUID version 8 in place of 4.
    /// Older releases gave ids the version 8. Because marks still have the version 8, a push has the same mark in all releases.
    package var mark: UInt64 { Self.marked(high) }

    private static func marked(_ high: UInt64) -> UInt64 { high & 0xFFFF_FFFF_FFFF_0FFF | 0x8000 }
    private static func versioned(_ high: UInt64) -> UInt64 { high & 0xFFFF_FFFF_FFFF_0FFF | 0x4000 }

    /// Reads the text form in upper or lower case; nil if the text is not a UUID.
    /// Older releases gave ids the version 8. If the text is such an id, the version becomes 4, as in the ids of this release.
    package init?(text: some StringProtocol) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == [8, 4, 4, 4, 12],
            let high = UInt64(unbounded: parts[...2].joined(), radix: 16),
            let low = UInt64(unbounded: parts[3...].joined(), radix: 16)
        else { return nil }
        self.high = high >> 12 & 0xF == 8 ? Self.versioned(high) : high
        self.low = low
    }

    /// Creates an id from `high` and `low`. The version and the variant of the UUID replace 6 of the 128 bits.
    package init(high: UInt64, low: UInt64) {
        self.high = Self.versioned(high)
        self.low = low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    }

    /// The length of the id's text form, in bytes.
    package static let textLength = 36

    /// Writes the canonical lower-case text (36 bytes) to the start of `buffer`.
    package func write(to buffer: UnsafeMutableRawBufferPointer) {
        precondition(buffer.count >= Self.textLength, "a push id needs 36 bytes")
        var offset = 0
        for index in 0..<16 {
            if index == 4 || index == 6 || index == 8 || index == 10 {
                buffer[offset] = UInt8(ascii: "-")
                offset += 1
            }
            let half = index < 8 ? high : low
            let byte = UInt8(truncatingIfNeeded: half &>> UInt64(56 - 8 * (index & 7)))
            buffer[offset] = Hexadecimal.digit(byte &>> 4)
            buffer[offset + 1] = Hexadecimal.digit(byte & 15)
            offset += 2
        }
    }

    package var description: String {
        String(unsafeUninitializedCapacity: Self.textLength) {
            write(to: UnsafeMutableRawBufferPointer($0))
            return Self.textLength
        }
    }
}
