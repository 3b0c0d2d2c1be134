/// The `apns-id` of a push. The same job and token always give the same id, so logs of several systems can be compared.
///
/// The id consists of the XXH64 with seed 1 and with seed 2, big-endian. The hash input is the job's id in UTF-8, a zero byte and
/// the token's raw bytes. The form is a UUID of version 4 (RFC 9562, 5.4), because some gateways and proxies refuse UUIDs of a
/// later version.
package struct PushID: Hashable, Sendable, CustomStringConvertible {
    package let high: UInt64
    package let low: UInt64

    /// The part of the ids that all pushes of a job share. This part is computed once for each segment of a batch.
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

    /// The mark of the push in audit records: the upper half of the push's id, with the version number 8.
    /// Older releases used version 8 for ids. The mark keeps version 8, so a push has the same mark in all releases.
    package var mark: UInt64 { Self.marked(high) }

    private static func marked(_ high: UInt64) -> UInt64 { high & 0xFFFF_FFFF_FFFF_0FFF | 0x8000 }
    private static func versioned(_ high: UInt64) -> UInt64 { high & 0xFFFF_FFFF_FFFF_0FFF | 0x4000 }

    /// Reads the text form in upper or lower case; nil if the text is not a UUID.
    /// An id of version 8, from an older release, is converted to the same push's id of version 4.
    package init?(text: some StringProtocol) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == [8, 4, 4, 4, 12],
            let high = UInt64(unbounded: parts[...2].joined(), radix: 16),
            let low = UInt64(unbounded: parts[3...].joined(), radix: 16)
        else { return nil }
        self.high = high >> 12 & 0xF == 8 ? Self.versioned(high) : high
        self.low = low
    }

    /// Creates an id from 122 bits of `high` and `low`. The UUID's version and variant replace the other 6 bits.
    package init(high: UInt64, low: UInt64) {
        self.high = Self.versioned(high)
        self.low = low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    }

    /// The length of the text form.
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
