/// A line of a shard's suppression list: from here on a token is left out, or is so no longer.
///
/// Big-endian: letter `UInt8` (a ``SuppressionReason``, or "-" for a removal), scope `UInt32`
/// (``SuppressionScope/number``), time `UInt32`, token.
package struct SuppressionRecord: Hashable, Sendable {
    /// nil: it is no longer left out.
    package var reason: SuppressionReason?
    package var scope: UInt32
    /// Unix seconds since when it is dead.
    package var time: UInt32
    package var token: ArraySlice<UInt8>

    package init(reason: SuppressionReason?, scope: UInt32, time: Int64, token: ArraySlice<UInt8>) {
        self.reason = reason
        self.scope = scope
        self.time = UInt32(clamping: time)
        self.token = token
    }

    private static let head = 9
    private static let removal = UInt8(ascii: "-")

    package var bytes: [UInt8] {
        var bytes: [UInt8] = [reason?.rawValue ?? Self.removal]
        bytes.reserveCapacity(Self.head + token.count)
        bytes.appendBigEndian(scope)
        bytes.appendBigEndian(time)
        bytes.append(contentsOf: token)
        return bytes
    }

    /// nil: a newer farm wrote it, or nobody did.
    package init?(decoding bytes: [UInt8]) {
        guard bytes.count > Self.head else { return nil }
        reason = SuppressionReason(rawValue: bytes[0])
        guard reason != nil || bytes[0] == Self.removal else { return nil }
        scope = bytes[1..<5].reduce(0) { $0 << 8 | UInt32($1) }
        time = bytes[5..<Self.head].reduce(0) { $0 << 8 | UInt32($1) }
        token = bytes[Self.head...]
    }
}
