package import APNs

/// The outcome of a push that was sent, and how certain that is. `ReportedOutcome` in Delivery explains how outcomes relate.
package enum SendOutcome {
    /// The gateway accepted it.
    case delivered
    /// The gateway responded something else; it did not accept the push.
    case refused(Rejection)
    /// The gateway certainly did not act on it: it may be sent again, which does not count as a retry.
    case unprocessed
    /// It was sent and no response came: it may have been accepted. `cause` says what cut the response off.
    case unknown(cause: String)
}

/// A response that is not an acceptance.
package struct Rejection {
    /// Judged without regard to when the token was registered, which the sender knows.
    package let verdict: Verdict
    package let status: UInt16
    /// Seconds that the gateway asked to wait, if it did.
    package let retryAfter: UInt32?
    /// Of the credentials that the push was sent with.
    package let generation: UInt32
}

/// What a push is known by while the gateway has it: its batch, by the sender's number, and its position there.
package struct PushTicket: Hashable, Sendable {
    package let batch: UInt32
    package let position: UInt32

    package init(batch: UInt32, position: UInt32) {
        self.batch = batch
        self.position = position
    }
}

/// Events of an exchange of pushes over one connection, for that connection.
enum ExchangeEvent {
    case completed(PushTicket, SendOutcome)
    /// There is room for pushes, or the limit has changed.
    case hasRoom
    /// It takes no more pushes; it still awaits the outcomes of the open ones. `verdict` is what the gateway's note means for our
    /// credentials.
    case isSpent(reason: String, verdict: Verdict)
    /// So many pushes were reported as delivered, and the gateway now says that it did not accept them: one that it refused, and
    /// what came behind that.
    case wasWrong(count: Int, reason: String)
    /// Nothing more comes: write the remaining output, close, and call `end`.
    case isOver(reason: String)
    /// Everything has its outcome. The last event.
    case ended(reason: String)
}

/// Events in the order in which they came up, until they are taken.
struct ExchangeEvents: ~Copyable {
    private var waiting: [ExchangeEvent] = []
    private var taken = 0

    var isEmpty: Bool { taken == waiting.count }

    mutating func append(_ event: ExchangeEvent) { waiting.append(event) }

    mutating func next() -> ExchangeEvent? {
        guard taken < waiting.count else {
            waiting.removeAll(keepingCapacity: true)
            taken = 0
            return nil
        }
        taken += 1
        return waiting[taken - 1]
    }
}

/// Faults that tests put into ``PushExchange``: the simulation must notice each of them.
enum ExchangeFault: Sendable {
    /// Takes a push that the gateway's limit held back for sent.
    case takesHeldBackForSent
    /// Takes a refused stream for a lost one.
    case takesRefusedForLost
    /// Does not count streams that end without a response.
    case ignoresClosed
    case ignoresGoAway
}
