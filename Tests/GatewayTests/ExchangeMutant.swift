@testable import Gateway

/// A deliberate fault in the exchange of pushes or in its output, which the simulation must notice.
///
/// Two faults are not in the list, because the session checks the stream limit too, so the faults change no result: the
/// exchange ignores a lowered stream limit, or counts only the room of the budget.
/// `ConnectionTests` has the cases in which only the session or only the budget knows that there is less room.
struct ExchangeMutant: Sendable, CustomStringConvertible {
    let description: String
    /// A fault in the exchange itself.
    var fault: InjectedExchangeFault?
    /// A fault in the output of the exchange.
    var change: @Sendable (ExchangeEvent) -> [ExchangeEvent] = { [$0] }
    var ignoresTime = false

    private init(_ description: String, _ fault: InjectedExchangeFault) {
        (self.description, self.fault) = (description, fault)
    }

    private init(_ description: String, change: @escaping @Sendable (ExchangeEvent) -> [ExchangeEvent]) {
        (self.description, self.change) = (description, change)
    }

    private init(_ description: String, ignoresTime: Bool) {
        (self.description, self.ignoresTime) = (description, ignoresTime)
    }

    /// The simulation must find this fault with the fixed seeds of `ExchangeSimulationTests`.
    static let heldBack = ExchangeMutant(
        "treats pushes held back by the gateway's limit as sent", InjectedExchangeFault.takesHeldBackForSent)

    static let all = [
        ExchangeMutant("treats a reset as a refusal") { Self.unprocessed($0, ifCause: "stream reset") },
        ExchangeMutant("treats pushes of a lost connection as unprocessed") {
            Self.unprocessed($0, ifCause: "connection lost")
        },
        ExchangeMutant("treats pushes after a timeout as unprocessed") {
            Self.unprocessed($0, ifCause: "no response")
        },
        heldBack,
        ExchangeMutant("treats a refused stream as a lost one", .takesRefusedForLost),
        ExchangeMutant("passes a late response on too") {
            Self.isUnknown($0, cause: "no response") ? [$0, $0] : [$0]
        },
        ExchangeMutant("reports no open push at the end") {
            Self.isUnknown($0, cause: "connection lost") ? [] : [$0]
        },
        ExchangeMutant("ignores the time", ignoresTime: true),
        ExchangeMutant("does not count streams that end without a response", .ignoresClosed),
        ExchangeMutant("ignores a gateway's GOAWAY", .ignoresGoAway),
        ExchangeMutant("does not report that there is room") { event in
            if case .roomAvailable = event { [] } else { [event] }
        },
    ]

    private static func isUnknown(_ event: ExchangeEvent, cause: String) -> Bool {
        if case .completed(_, .unknown(let words)) = event { words.hasPrefix(cause) } else { false }
    }

    private static func unprocessed(_ event: ExchangeEvent, ifCause cause: String) -> [ExchangeEvent] {
        guard isUnknown(event, cause: cause), case .completed(let ticket, _) = event else { return [event] }
        return [.completed(ticket, .unprocessed)]
    }
}
