/// Keeps the stream limits of one HTTP/2 connection: the gateway's limit, a reduced limit while the gateway is slow, and the stream
/// ids that are left.
///
/// A new limit of the gateway applies as soon as the connection has read the limit. Streams above a lowered limit may finish. The
/// budget owns no connection and allocates nothing.
package struct StreamBudget: ~Copyable, Sendable {
    /// The largest number of open streams, even if the gateway allows more.
    package static let usualCap = 2000
    /// Client streams have the odd ids below 2^31. After the last id, a new connection is needed.
    package static let idsOfConnection = 1 << 30

    private let cap: Int
    /// The gateway's stream limit; nil until its first SETTINGS.
    private var peerLimit: Int?
    private var isLimitedToOneStream: Bool
    private var isGoingAway = false
    private var remainingIDs: Int
    /// A reduced stream limit for a slow or troubled gateway. The limit is halved when requests time out or when many
    /// responses of a round indicate trouble. The limit grows after each round without trouble. A round is as many responses as
    /// the limit allows streams. nil means no reduction.
    private var reducedLimit: Int?
    private var responsesOfRound = 0
    private var troublesOfRound = 0
    private var refusalsOfRound = 0
    /// The number of 429 responses in this round. 429 responses indicate trouble only if several devices got 429.
    private var throttles = 0
    private var wasLowered = false
    /// The number of open streams.
    package private(set) var open = 0

    /// - Parameters:
    ///   - aloneUntilAuthenticated: whether only one stream is allowed before the call of ``authenticated()``, as for provider
    ///     tokens.
    ///   - cap: the largest number of streams, whatever the gateway allows.
    package init(
        aloneUntilAuthenticated: Bool, cap: Int = StreamBudget.usualCap,
        ids: Int = StreamBudget.idsOfConnection
    ) {
        precondition(cap > 0, "a cap of \(cap) streams")
        isLimitedToOneStream = aloneUntilAuthenticated
        self.cap = cap
        remainingIDs = ids
    }

    /// Whether this connection uses fewer streams than the gateway allows.
    package var isSlowed: Bool { reducedLimit.map { $0 < min(cap, peerLimit ?? cap) } ?? false }

    /// The number of streams that may be open at the same time now.
    package var limit: Int {
        guard let peerLimit, !isGoingAway else { return 0 }
        return min(peerLimit, isLimitedToOneStream ? 1 : min(cap, reducedLimit ?? cap))
    }

    /// The number of additional streams that may be opened now.
    package var available: Int { max(0, min(limit - open, remainingIDs)) }

    /// Whether this connection will never open another stream.
    package var isExhausted: Bool { isGoingAway || remainingIDs == 0 }

    /// Applies the gateway's SETTINGS.
    ///
    /// - Parameter maxConcurrentStreams: nil if the SETTINGS contained no limit. In that case, a limit from earlier SETTINGS
    ///   still applies; without earlier SETTINGS, the gateway sets no limit.
    package mutating func settings(maxConcurrentStreams: UInt32?) {
        if let maxConcurrentStreams {
            // A gateway that waits for a provider token sets a limit of one stream. This does not indicate trouble.
            if let peerLimit, maxConcurrentStreams < min(peerLimit, cap), maxConcurrentStreams > 1 {
                wasLowered = true
            }
            peerLimit = Int(maxConcurrentStreams)
        } else if peerLimit == nil {
            peerLimit = Int(UInt32.max)
        }
    }

    /// Notes a response that confirms the credentials.
    package mutating func authenticated() { isLimitedToOneStream = false }

    /// Halves the limit after request timeouts, because more concurrent requests would only wait longer.
    package mutating func timedOut() {
        reducedLimit = max(1, min(limit, reducedLimit ?? limit) / 2)
        beginRound()
    }

    /// Notes that the gateway refused a stream without processing it. A refusal counts as a response of the round. If more than
    /// half of a round's responses are refusals, the gateway accepts fewer streams than it announces, and the limit is halved.
    /// Fewer refusals do not reduce the limit, because a refusal costs little.
    package mutating func refused() {
        guard !isLimitedToOneStream else { return }
        if reducedLimit == nil { (reducedLimit, responsesOfRound) = (max(1, min(limit, cap)), 0) }
        refusalsOfRound += 1
        responded()
    }

    /// Notes that the last response indicates gateway trouble.
    package mutating func troubled(_ count: Int = 1) {
        if reducedLimit == nil { (reducedLimit, responsesOfRound) = (max(1, min(limit, cap)), 1) }
        troublesOfRound += count
    }

    /// Notes that the last response throttled one device. The response reduces the limit only if several devices were throttled
    /// and ``slowDownForThrottling()`` is called.
    package mutating func throttled() { throttles += 1 }

    /// Counts the throttled responses as trouble, because several devices were throttled.
    package mutating func slowDownForThrottling() {
        if throttles > 0 { troubled(throttles) }
        throttles = 0
    }

    /// Returns whether the gateway has lowered its limit since the last call.
    package mutating func takeLowered() -> Bool {
        defer { wasLowered = false }
        return wasLowered
    }

    /// Notes a response of any status.
    package mutating func responded() {
        guard let reducedLimit else { return }
        responsesOfRound += 1
        guard responsesOfRound >= reducedLimit else { return }
        let isTroubled =
            8 * troublesOfRound > responsesOfRound || 2 * refusalsOfRound > responsesOfRound
        beginRound()
        if isTroubled {
            self.reducedLimit = max(1, min(limit, reducedLimit) / 2)
        } else {
            self.reducedLimit = reducedLimit >= cap ? nil : reducedLimit + max(1, reducedLimit / 4)
        }
    }

    private mutating func beginRound() {
        (responsesOfRound, troublesOfRound, refusalsOfRound) = (0, 0, 0)
    }

    /// Notes that the gateway sent GOAWAY.
    package mutating func goAway() { isGoingAway = true }

    /// Notes an opened stream.
    package mutating func opened() {
        precondition(available > 0, "a stream opened with none available")
        open += 1
        remainingIDs -= 1
    }

    /// Notes a closed stream, with or without a response.
    package mutating func closed() {
        precondition(open > 0, "a stream closed with none open")
        open -= 1
    }
}
