import DequeModule
package import FarmPolicy

/// Proves, through a peer's TLS, which bytes the peer's program has read. The *n*th TLS response proves that the program has
/// read everything sent before the *n*th question. This type uses no socket and no clock.
///
/// A question is a KeyUpdate of TLS 1.3 that requests a KeyUpdate in return. A response never precedes its question, so the *n*th
/// response belongs to the *n*th question or a later one. OpenSSL servers respond to a question only when they read the next one.
/// Therefore others follow an open question: twice within ``interval``, then once per ``longInterval``. A connection begins with
/// two questions before any data, so a peer that supports questions responds at once, even if it reads slowly.
package struct ReadProof {
    private struct Question {
        /// The number of bytes sent on the connection before the question.
        var end: UInt64
        var askedAt: Instant
        /// The number of questions that were answered when this question was asked.
        var answered: Int
    }

    private var open = Deque<Question>()
    private var answers = 0
    /// The number of answered questions.
    private var answered = 0
    private var unconfirmed = Deque<Instant>()
    private var lastAskedAt: Instant?
    private var asked = 0
    /// The number of bytes that the peer has certainly read.
    package private(set) var readUpTo: UInt64 = 0
    /// The time until which all replies of the peer have arrived. The proof needs two responses: one to a question asked at
    /// that time, and one to a question asked after that response. One response is not enough, because a peer that was
    /// suspended reads pending bytes before it checks its own clock.
    package private(set) var repliesArrivedUntil: Instant?

    /// The time between two questions.
    package static let interval = Duration.milliseconds(50)
    private static let longInterval = Duration.seconds(1)
    /// BoringSSL closes a connection after more than 32 key changes without data between them.
    private static let mostOpen = 16

    package init() {}

    package var hasAnswers: Bool { answers > 0 }

    /// Whether the two questions at the beginning of a connection are not asked yet.
    package var isBeginning: Bool { asked < 2 }

    /// Returns whether another question may be asked now.
    package func mayAsk(at now: Instant) -> Bool {
        guard !isBeginning, let lastAskedAt else { return true }
        let since = now - lastAskedAt
        return since >= Self.interval
            && (open.count < 2 || since >= Self.longInterval && open.count < Self.mostOpen)
    }

    /// Notes a question that was sent after the first `end` bytes of the connection.
    package mutating func asked(behind end: UInt64, at now: Instant) {
        open.append(Question(end: end, askedAt: now, answered: answered))
        lastAskedAt = now
        asked += 1
    }

    /// Notes that `total` responses have arrived, and that all earlier bytes were processed.
    ///
    /// - Returns: whether the number of responses has grown.
    package mutating func answered(_ total: Int) -> Bool {
        guard total > answers else { return false }
        for _ in answers..<total {
            guard let question = open.popFirst() else { break }
            readUpTo = question.end
            answered += 1
            unconfirmed.append(question.askedAt)
            while answered - unconfirmed.count < question.answered {
                repliesArrivedUntil = unconfirmed.popFirst()
            }
        }
        answers = total
        return true
    }
}
