import DequeModule
package import FarmPolicy

/// Proves, through a peer's TLS, which bytes the peer's program has read. This type uses no socket and no clock.
///
/// A question is a KeyUpdate of TLS 1.3 that requests a KeyUpdate in return; the requested KeyUpdate is the response. The *n*th
/// response proves that the program has read every byte sent before the *n*th question. A response never precedes its question,
/// so the *n*th response belongs to the *n*th question or a later question. A server with OpenSSL responds to a question only
/// when it reads the next question. Therefore, after a question without a response, this type asks more questions: one per
/// ``interval`` until two questions have no response, then one per ``longInterval``. A connection begins with two questions
/// before any data, so a peer that supports questions responds at once, even if the peer reads slowly.
package struct ReadProof {
    private struct Question {
        /// The number of bytes sent on the connection before the question.
        var end: UInt64
        var askedAt: Instant
        /// The number of responses that had arrived and matched a question when this question was sent.
        var responsesBefore: Int
    }

    private var open = Deque<Question>()
    private var responses = 0
    /// The number of responses that belong to a question.
    private var matchedResponses = 0
    private var unconfirmed = Deque<Instant>()
    private var lastAskedAt: Instant?
    private var asked = 0
    /// The number of bytes that the peer has certainly read.
    package private(set) var readUpTo: UInt64 = 0
    /// All replies that the peer sent until this time have arrived; nil before the first proof. The proof for a time needs
    /// two responses: the response to a question asked at this time, and the response to a question asked after the first
    /// response had arrived. One response is not enough, because a peer that was suspended reads pending bytes before it
    /// checks its own clock.
    package private(set) var repliesArrivedUntil: Instant?

    /// The time between two questions.
    package static let interval = Duration.milliseconds(50)
    private static let longInterval = Duration.seconds(1)
    /// The maximum number of questions without a response. BoringSSL closes a connection after more than 32 key changes without
    /// data between the changes.
    private static let mostOpen = 16

    package init() {}

    package var hasResponses: Bool { responses > 0 }

    /// Whether fewer than two questions were asked, so the beginning of the connection needs another question.
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
        open.append(Question(end: end, askedAt: now, responsesBefore: matchedResponses))
        lastAskedAt = now
        asked += 1
    }

    /// Notes that `total` responses have arrived, and that this process has handled all replies that the peer sent before the
    /// last response.
    ///
    /// - Returns: whether the number of responses has grown.
    package mutating func responded(_ total: Int) -> Bool {
        guard total > responses else { return false }
        for _ in responses..<total {
            guard let question = open.popFirst() else { break }
            readUpTo = question.end
            matchedResponses += 1
            unconfirmed.append(question.askedAt)
            while matchedResponses - unconfirmed.count < question.responsesBefore {
                repliesArrivedUntil = unconfirmed.popFirst()
            }
        }
        responses = total
        return true
    }
}
