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
    /// Fewer than the gateway allows, because it did not keep up: halved when requests time out, one more with
    /// each whole round of answers. nil: it keeps up.
    private var pace: Int?
    private var answersOfRound = 0
    /// Streams that are open now.
    package private(set) var open = 0

    /// - Parameter aloneUntilAuthenticated: one stream only until ``authenticated()``: the rule for provider
    ///   tokens.
    package init(
        aloneUntilAuthenticated: Bool, cap: Int = StreamBudget.usualCap,
        ids: Int = StreamBudget.idsOfConnection
    ) {
        precondition(cap > 0, "a cap of \(cap) streams")
        isAlone = aloneUntilAuthenticated
        self.cap = cap
        idsLeft = ids
    }

    /// How many streams may be open at the same time now.
    package var limit: Int {
        guard let peerLimit, !isGoingAway else { return 0 }
        return min(peerLimit, isAlone ? 1 : min(cap, pace ?? cap))
    }

    /// How many more streams may be opened now.
    package var available: Int { max(0, min(limit - open, idsLeft)) }

    /// Whether the connection has no further use: it is going away or its ids are used up, and no stream is
    /// open.
    package var isFinished: Bool { open == 0 && (isGoingAway || idsLeft == 0) }

    /// Whether this connection will never open another stream.
    package var isSpent: Bool { isGoingAway || idsLeft == 0 }

    /// The gateway's SETTINGS were read.
    ///
    /// - Parameter maxConcurrentStreams: nil if they did not name it: no change, and no limit in the first
    ///   ones.
    package mutating func settings(maxConcurrentStreams: UInt32?) {
        if let maxConcurrentStreams {
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
        answersOfRound = 0
    }

    /// An answer came, whatever it said.
    package mutating func answered() {
        guard let pace else { return }
        answersOfRound += 1
        guard answersOfRound >= pace else { return }
        answersOfRound = 0
        self.pace = pace >= cap ? nil : pace + max(1, pace / 4)
    }

    /// The gateway said GOAWAY.
    package mutating func goAway() { isGoingAway = true }

    /// `count` streams were opened.
    package mutating func opened(_ count: Int = 1) {
        precondition(count <= available, "\(count) streams opened with \(available) available")
        open += count
        idsLeft -= count
    }

    /// A stream is over, answered or not.
    package mutating func closed() {
        precondition(open > 0, "a stream closed with none open")
        open -= 1
    }
}
