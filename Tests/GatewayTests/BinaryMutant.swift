@testable import Gateway

/// A deliberate fault in the input or output of the binary exchange, which the simulation must notice.
enum BinaryMutant: String, CaseIterable, Sendable, CustomStringConvertible {
    case trustsAtOnce = "treats written pushes as accepted at once"
    case trustsEnds = "treats unknown outcomes after an end as unprocessed"
    case repeats = "reports unprocessed pushes twice"
    case trustsFollowers = "treats the pushes behind a refused one as accepted"
    case ignoresUnread = "does not wait until the peer has the bytes"
    case trustsQuestions = "treats a question as its reply"
    case ignoresReplies = "ignores replies"
    case forgetsUnsent = "forgets unsent pushes at the end"
    case ignoresTime = "ignores the time"

    var description: String { rawValue }

    func change(_ event: ExchangeEvent) -> [ExchangeEvent] {
        guard case .completed(let ticket, let outcome) = event else { return [event] }
        return switch (self, outcome) {
        case (.trustsEnds, .unknown): [.completed(ticket, .unprocessed)]
        case (.repeats, .unprocessed): [event, event]
        case (.trustsFollowers, .unprocessed): [.completed(ticket, .delivered)]
        case (.forgetsUnsent, .unprocessed): []
        default: [event]
        }
    }

    /// - Parameter questions: the number of key updates that the exchange has requested.
    static func poll(
        _ exchange: BinaryExchange, _ mutant: Self?, unread: Int, responses: Int, questions: Int,
        at now: ContinuousClock.Instant
    ) {
        switch mutant {
        case .ignoresTime: break
        case .ignoresUnread: exchange.poll(unread: 0, responses: responses, at: now)
        case .trustsQuestions:
            exchange.poll(unread: unread, responses: responses == 0 ? 0 : questions, at: now)
        case .trustsAtOnce:
            exchange.poll(unread: unread, responses: responses, at: now)
            exchange.poll(unread: unread, responses: responses, at: now + .milliseconds(700))
        default: exchange.poll(unread: unread, responses: responses, at: now)
        }
    }
}
