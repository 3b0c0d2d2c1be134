/// How many streams a client may open on one connection: one at first and after some refusals, then the gateway's limit.
struct StreamLimit {
    private var limit: UInt32
    private var isRaised: Bool

    init(_ limit: UInt32, isRaised: Bool) { (self.limit, self.isRaised) = (limit, isRaised) }

    var current: UInt32 { isRaised ? limit : min(1, limit) }

    /// Allows the gateway's limit.
    /// - Returns: the limit to send; nil if it stays the same, as below.
    mutating func raise() -> UInt32? {
        guard !isRaised else { return nil }
        isRaised = true
        return limit
    }

    /// Allows one stream.
    mutating func lower() -> UInt32? {
        guard isRaised, limit > 1 else { return nil }
        isRaised = false
        return 1
    }

    /// The gateway has another limit.
    mutating func change(to streams: UInt32) -> UInt32? {
        limit = streams
        guard isRaised || streams == 0 else { return nil }
        isRaised = true
        return streams
    }
}
