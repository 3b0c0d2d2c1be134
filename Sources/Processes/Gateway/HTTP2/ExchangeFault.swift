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
