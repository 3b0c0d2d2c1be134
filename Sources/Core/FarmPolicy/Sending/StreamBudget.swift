/// How many streams one HTTP/2 connection may open now.
///
/// The gateway's limit is obeyed as soon as it was read, in either direction; streams above a lowered one are
/// awaited. Owns no connection and allocates nothing.
package struct StreamBudget: ~Copyable, Sendable {
    /// The most streams that are kept open whatever the gateway allows.
    package static let usualCap = 2000
    /// Client streams have the odd ids below 2^31; after the last a new connection is needed.
    package static let idsOfConnection = 1 << 30

    private let cap: Int
    /// nil until the gateway's first SETTINGS.
    private var peerLimit: Int?
    private var isAlone: Bool
    private var isGoingAway = false
    private var idsLeft: Int
    /// Fewer than the gateway allows, because it did not keep up or was in trouble: halved when requests time out or a good part
    /// of a round's answers is trouble, more again with each whole round of other answers. nil: it keeps up.
    private var pace: Int?
    private var answersOfRound = 0
    private var troublesOfRound = 0
    private var refusalsOfRound = 0
    /// Answers that were trouble only if several devices got them.
    private var throttles = 0
    private var wasLowered = false
    /// Streams that are open now.
    package private(set) var open = 0

    /// - Parameters:
    ///   - aloneUntilAuthenticated: one stream only until ``authenticated()``: the rule for provider tokens.
    ///   - cap: streams at most, whatever the gateway allows.
    package init(
        aloneUntilAuthenticated: Bool, cap: Int = StreamBudget.usualCap,
        ids: Int = StreamBudget.idsOfConnection
    ) {
        precondition(cap > 0, "a cap of \(cap) streams")
        isAlone = aloneUntilAuthenticated
        self.cap = cap
        idsLeft = ids
    }

    /// Fewer streams are opened than the gateway allows.
    package var isSlowed: Bool { pace.map { $0 < min(cap, peerLimit ?? cap) } ?? false }

    /// How many streams may be open at the same time now.
    package var limit: Int {
        guard let peerLimit, !isGoingAway else { return 0 }
        return min(peerLimit, isAlone ? 1 : min(cap, pace ?? cap))
    }

    /// How many more streams may be opened now.
    package var available: Int { max(0, min(limit - open, idsLeft)) }

    /// Whether this connection will never open another stream.
    package var isSpent: Bool { isGoingAway || idsLeft == 0 }

    /// The gateway's SETTINGS were read.
    ///
    /// - Parameter maxConcurrentStreams: nil if they did not name it: no change, and no limit in the first
    ///   ones.
    package mutating func settings(maxConcurrentStreams: UInt32?) {
        if let maxConcurrentStreams {
            // Down to one is how a gateway asks for a provider token.
            if let peerLimit, maxConcurrentStreams < min(peerLimit, cap), maxConcurrentStreams > 1 {
                wasLowered = true
            }
            peerLimit = Int(maxConcurrentStreams)
        } else if peerLimit == nil {
            peerLimit = Int(UInt32.max)
        }
    }

    /// An answer proved that the gateway accepts the credentials.
    package mutating func authenticated() { isAlone = false }

    /// Requests were not answered in time: more of them at once would only wait longer.
    package mutating func timedOut() {
        pace = max(1, min(limit, pace ?? limit) / 2)
        beginRound()
    }

    /// The gateway refused a stream without acting on it, which counts as an answer of the round. More than half of a round means
    /// that it takes fewer streams at a time than it says; what it refuses costs little.
    package mutating func refused() {
        guard !isAlone else { return }
        if pace == nil { (pace, answersOfRound) = (max(1, min(limit, cap)), 0) }
        refusalsOfRound += 1
        answered()
    }

    /// The last answer was trouble of the gateway's.
    package mutating func troubled(_ count: Int = 1) {
        if pace == nil { (pace, answersOfRound) = (max(1, min(limit, cap)), 1) }
        troublesOfRound += count
    }

    /// The last response was about one device; the responses of other connections show whether the gateway is overloaded.
    package mutating func throttled() { throttles += 1 }

    /// Several devices were throttled: that was trouble.
    package mutating func slowDownForThrottling() {
        if throttles > 0 { troubled(throttles) }
        throttles = 0
    }

    /// Whether the gateway has lowered its limit since the last call.
    package mutating func takeLowered() -> Bool {
        defer { wasLowered = false }
        return wasLowered
    }

    /// An answer came, whatever it said.
    package mutating func answered() {
        guard let pace else { return }
        answersOfRound += 1
        guard answersOfRound >= pace else { return }
        let isTroubled =
            8 * troublesOfRound > answersOfRound || 2 * refusalsOfRound > answersOfRound
        beginRound()
        if isTroubled {
            self.pace = max(1, min(limit, pace) / 2)
        } else {
            self.pace = pace >= cap ? nil : pace + max(1, pace / 4)
        }
    }

    private mutating func beginRound() {
        (answersOfRound, troublesOfRound, refusalsOfRound) = (0, 0, 0)
    }

    /// The gateway said GOAWAY.
    package mutating func goAway() { isGoingAway = true }

    /// A stream was opened.
    package mutating func opened() {
        precondition(available > 0, "a stream opened with none available")
        open += 1
        idsLeft -= 1
    }

    /// A stream is over, answered or not.
    package mutating func closed() {
        precondition(open > 0, "a stream closed with none open")
        open -= 1
    }
}
