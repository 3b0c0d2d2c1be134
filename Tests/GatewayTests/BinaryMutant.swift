import APNs

@testable import Gateway

/// A fault put into the binary exchange on purpose: the simulation must notice it.
struct BinaryMutant: Sendable, CustomStringConvertible {
    let description: String
    let type: BinaryExchange.Type

    static let all = [
        BinaryMutant(description: "takes what it wrote for accepted at once", type: Hasty.self),
        BinaryMutant(description: "takes what an end leaves in doubt for unprocessed", type: TrustsEnds.self),
        BinaryMutant(description: "tells what is unprocessed twice", type: Talkative.self),
        BinaryMutant(description: "takes what follows a refused push for accepted", type: Naive.self),
        BinaryMutant(description: "does not wait for the peer to have what it was sent", type: Careless.self),
        BinaryMutant(description: "takes a question for its answer", type: Credulous.self),
        BinaryMutant(description: "is deaf to replies", type: Deaf.self),
        BinaryMutant(description: "forgets what was not sent at the end", type: Forgetful.self),
        BinaryMutant(description: "never looks at the clock", type: Timeless.self),
    ]
}

private final class Hasty: BinaryExchange {
    override func poll(unread: Int, answers: Int, at now: Instant) {
        super.poll(unread: unread, answers: answers, at: now)
        super.poll(unread: unread, answers: answers, at: now + .milliseconds(700))
    }
}

private final class TrustsEnds: BinaryExchange {
    override func tell(_ event: ExchangeEvent) {
        if case .completed(let ticket, .unknown) = event {
            return super.tell(.completed(ticket, .unprocessed))
        }
        super.tell(event)
    }
}

private final class Talkative: BinaryExchange {
    override func tell(_ event: ExchangeEvent) {
        if case .completed(_, .unprocessed) = event { super.tell(event) }
        super.tell(event)
    }
}

private final class Naive: BinaryExchange {
    override func tell(_ event: ExchangeEvent) {
        if case .completed(let ticket, .unprocessed) = event {
            return super.tell(.completed(ticket, .delivered))
        }
        super.tell(event)
    }
}

private final class Careless: BinaryExchange {
    override func poll(unread: Int, answers: Int, at now: Instant) {
        super.poll(unread: 0, answers: answers, at: now)
    }
}

private final class Credulous: BinaryExchange {
    private var questions = 0

    override func asked(at now: Instant) {
        questions += 1
        super.asked(at: now)
    }

    override func poll(unread: Int, answers: Int, at now: Instant) {
        super.poll(unread: unread, answers: answers == 0 ? 0 : questions, at: now)
    }
}

private final class Deaf: BinaryExchange {
    override func receive(_ bytes: UnsafeRawBufferPointer, at now: Instant) {}
}

private final class Forgetful: BinaryExchange {
    override func tell(_ event: ExchangeEvent) {
        if case .completed(_, .unprocessed) = event { return }
        super.tell(event)
    }
}

private final class Timeless: BinaryExchange {
    override func poll(unread: Int, answers: Int, at now: Instant) {}
}
