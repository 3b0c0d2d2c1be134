import DequeModule
package import FarmPolicy

/// What a peer's TLS proves about its program, without a socket and a clock: the *n*th of its answers says that the program has
/// read everything that was sent before the *n*th question.
///
/// A question is a KeyUpdate of TLS 1.3 that asks for one back. An answer never comes before what it answers, so that the *n*th
/// answers the *n*th question or a later one. OpenSSL's servers answer a question when they read the next one, and so
/// an open question is followed by others, twice within ``interval`` and then once in ``longInterval``. A connection begins with two questions,
/// before which there is nothing to read: a peer that answers at all answers them at once, however slowly it reads.
package struct ReadProof {
    private struct Question {
        /// Bytes of the connection that were sent before it.
        var end: UInt64
        var askedAt: Instant
        /// Questions that were answered when this one was asked.
        var answered: Int
    }

    private var open = Deque<Question>()
    private var answers = 0
    /// Questions that were answered, the last of them since the peer has been heard.
    private var answered = 0
    private var unconfirmed = Deque<Instant>()
    private var lastAskedAt: Instant?
    private var asked = 0
    /// The peer has read the first so many bytes.
    package private(set) var readUpTo: UInt64 = 0
    /// What the peer had to say until then has been heard: it answered a question that was asked then, and one that was asked
    /// after that answer. One would not do: a peer that had stood still reads what has come before it looks at its own clock.
    package private(set) var heardUntil: Instant?

    /// Between two questions.
    package static let interval = Duration.milliseconds(50)
    private static let longInterval = Duration.seconds(1)
    /// BoringSSL ends a connection with more than 32 changes of keys and no data between them.
    private static let mostOpen = 16

    package init() {}

    package var hasAnswers: Bool { answers > 0 }

    /// The questions with which a connection begins are still to be asked.
    package var isBeginning: Bool { asked < 2 }

    /// Whether another question may be asked now.
    package func mayAsk(at now: Instant) -> Bool {
        guard !isBeginning, let lastAskedAt else { return true }
        let since = now - lastAskedAt
        return since >= Self.interval
            && (open.count < 2 || since >= Self.longInterval && open.count < Self.mostOpen)
    }

    /// A question goes behind the first `end` bytes of the connection.
    package mutating func asked(behind end: UInt64, at now: Instant) {
        open.append(Question(end: end, askedAt: now, answered: answered))
        lastAskedAt = now
        asked += 1
    }

    /// `total` answers have come so far, and everything that came before them was looked at.
    ///
    /// - Returns: whether they are more than before.
    package mutating func answered(_ total: Int) -> Bool {
        guard total > answers else { return false }
        for _ in answers..<total {
            guard let question = open.popFirst() else { break }
            readUpTo = question.end
            answered += 1
            unconfirmed.append(question.askedAt)
            while answered - unconfirmed.count < question.answered { heardUntil = unconfirmed.popFirst() }
        }
        answers = total
        return true
    }
}
