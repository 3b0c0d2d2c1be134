package import APNs

/// The outcome of a sent push, and how certain the outcome is. `UndeliveredResult` in Delivery explains how the types of
/// outcomes relate.
package enum SendOutcome {
    /// The gateway accepted the push.
    case delivered
    /// The gateway did not accept the push, and responded with a reason.
    case rejected(Rejection)
    /// The gateway certainly did not process the push. Sending the push again does not count as a retry.
    case unprocessed
    /// The push was sent and got no response, so it may have been accepted. `cause` says why the response was
    /// lost.
    case unknown(cause: String)
}

/// A response that refuses a push.
package struct Rejection {
    /// The meaning of the response. The time of the token's registration has no influence on the verdict, because only
    /// the sender of the push knows this time.
    package let verdict: Verdict
    package let status: UInt16
    /// The delay in seconds that the gateway requested; nil if it requested no delay.
    package let retryAfter: UInt32?
    /// The generation of the credentials that the push was sent with.
    package let generation: UInt32
}

/// Identifies a sent push by the number that the sender has given to the batch, and by the push's position in the
/// batch.
package struct PushTicket: Hashable, Sendable {
    package let batch: UInt32
    package let position: UInt32

    package init(batch: UInt32, position: UInt32) {
        self.batch = batch
        self.position = position
    }
}

/// An event that an exchange reports to its connection.
enum ExchangeEvent {
    case completed(PushTicket, SendOutcome)
    /// The connection has room for pushes, or its limit has changed.
    case roomAvailable
    /// The connection takes no more pushes, but still awaits the outcomes of open pushes. `verdict` says what the
    /// gateway's reason means for the credentials.
    case retired(reason: String, verdict: Verdict)
    /// The gateway did not accept `count` pushes that were already reported as delivered: it refused the first of these
    /// pushes, and discarded the pushes after it.
    case deliveredPushesLost(count: Int, reason: String)
    /// The exchange is over: write the remaining output, close the connection, and call `end`.
    case isOver(reason: String)
    /// The last event: every push has its outcome.
    case ended(reason: String)
}

/// Queues events in order until they are taken.
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

/// Faults that tests inject into ``PushExchange``. The simulation must detect each fault.
enum InjectedExchangeFault: Sendable {
    /// Treats a push as sent although the gateway's stream limit delayed it.
    case takesHeldBackForSent
    /// Treats a push on a refused stream as a push whose response was lost.
    case takesRefusedForLost
    /// Does not count streams that end without a response.
    case ignoresClosed
    case ignoresGoAway
}
