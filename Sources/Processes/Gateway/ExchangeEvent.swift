import APNs

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
