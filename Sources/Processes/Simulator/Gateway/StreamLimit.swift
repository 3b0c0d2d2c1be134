/// How many streams a client may have open on one connection: 1 at first and after some refusals, otherwise the limit of the
/// gateway.
struct StreamLimit {
    private var limit: UInt32
    private var hasFired: Bool

    init(_ limit: UInt32, hasFired: Bool) { (self.limit, self.hasFired) = (limit, hasFired) }

    var current: UInt32 { hasFired ? limit : min(1, limit) }

    /// Raises the limit to the gateway's limit.
    /// - Returns: the new limit, which must be sent to the client; nil if the limit does not change.
    mutating func raise() -> UInt32? {
        guard !hasFired else { return nil }
        hasFired = true
        return limit
    }

    /// Lowers the limit to one stream.
    mutating func lower() -> UInt32? {
        guard hasFired, limit > 1 else { return nil }
        hasFired = false
        return 1
    }

    /// Applies a new limit of the gateway.
    mutating func change(to streams: UInt32) -> UInt32? {
        limit = streams
        guard hasFired || streams == 0 else { return nil }
        hasFired = true
        return streams
    }
}
