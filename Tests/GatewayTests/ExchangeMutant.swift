import HTTP2

@testable import Gateway

/// A fault put into the exchange of pushes on purpose: the simulation must notice it.
///
/// Not here, because they are no faults: to be deaf to a lowered limit, or to count only the budget's room. The session knows
/// the limit as well; `ConnectionTests` has the cases in which only one of the two knows of less room.
struct ExchangeMutant: Sendable, CustomStringConvertible {
    let description: String
    let type: PushExchange<APNsService>.Type

    /// The pinned seeds must find it.
    static let heldBack = ExchangeMutant(
        description: "takes what the gateway's limit held back for sent", type: TrustsSubmission.self)

    static let all = [
        ExchangeMutant(description: "takes a reset for a refusal", type: TrustsResets.self),
        ExchangeMutant(description: "takes what was cut off for unprocessed", type: TrustsCuts.self),
        ExchangeMutant(description: "takes what was given up for unprocessed", type: TrustsDeadlines.self),
        heldBack,
        ExchangeMutant(description: "takes a refused stream for a lost one", type: DoubtsRefusals.self),
        ExchangeMutant(description: "tells a late answer as well", type: TellsTwice.self),
        ExchangeMutant(description: "says nothing of what is open at the end", type: SilentAtTheEnd.self),
        ExchangeMutant(description: "never looks at the clock", type: Timeless.self),
        ExchangeMutant(description: "does not count streams that end unanswered", type: LeaksStreams.self),
        ExchangeMutant(description: "takes a gateway's farewell for nothing", type: DeafToFarewells.self),
        ExchangeMutant(description: "does not tell of room", type: SilentOnRoom.self),
    ]
}

private final class TrustsResets: PushExchange<APNsService> {
    override func tell(_ event: ExchangeEvent) {
        if case .completed(let ticket, .unknown(let cause)) = event, cause.hasPrefix("stream reset") {
            return super.tell(.completed(ticket, .unprocessed))
        }
        super.tell(event)
    }
}

private final class TrustsCuts: PushExchange<APNsService> {
    override func tell(_ event: ExchangeEvent) {
        if case .completed(let ticket, .unknown(let cause)) = event, cause.hasPrefix("connection lost") {
            return super.tell(.completed(ticket, .unprocessed))
        }
        super.tell(event)
    }
}

private final class TrustsDeadlines: PushExchange<APNsService> {
    override func tell(_ event: ExchangeEvent) {
        if case .completed(let ticket, .unknown(let cause)) = event, cause.hasPrefix("no answer") {
            return super.tell(.completed(ticket, .unprocessed))
        }
        super.tell(event)
    }
}

private final class TrustsSubmission: PushExchange<APNsService> {
    override func hasLeft(_ stream: Int32) -> Bool { true }
}

private final class DoubtsRefusals: PushExchange<APNsService> {
    override func handle(_ event: ClientEvent) {
        if case .closed(let tag, let stream, let code, true) = event {
            return super.handle(.closed(tag: tag, stream: stream, code: code, unprocessed: false))
        }
        super.handle(event)
    }
}

private final class TellsTwice: PushExchange<APNsService> {
    override func tell(_ event: ExchangeEvent) {
        super.tell(event)
        if case .completed(_, .unknown(let cause)) = event, cause.hasPrefix("no answer") { super.tell(event) }
    }
}

private final class SilentAtTheEnd: PushExchange<APNsService> {
    override func tell(_ event: ExchangeEvent) {
        if case .completed(_, .unknown(let cause)) = event, cause.hasPrefix("connection lost") { return }
        super.tell(event)
    }
}

private final class Timeless: PushExchange<APNsService> {
    override func poll(at now: Instant) {}
}

private final class LeaksStreams: PushExchange<APNsService> {
    override func handle(_ event: ClientEvent) {
        if case .closed = event { return }
        super.handle(event)
    }
}

private final class DeafToFarewells: PushExchange<APNsService> {
    override func handle(_ event: ClientEvent) {
        if case .goAway = event { return }
        super.handle(event)
    }
}

private final class SilentOnRoom: PushExchange<APNsService> {
    override func tell(_ event: ExchangeEvent) {
        if case .hasRoom = event { return }
        super.tell(event)
    }
}
