import BinaryProtocol
import FarmPolicy

/// Finds the pushes in one connection's window that are safe, which means that the gateway has accepted them. A TLS key
/// update from the gateway can prove which bytes the gateway has read. Without this proof, a push is safe after the
/// quiet time.
struct AcceptanceCheck {
    private let asksIfRead: Bool
    private let profile: BinaryGatewayProfile
    private var proof = ReadProof()
    /// The number of bytes that the gateway had probably not read at the last check.
    private var unread = 0
    private var polledAt: Instant

    /// If the time between two checks is longer than this limit, the quiet time of all pushes starts again.
    private static let longestGap = Duration.milliseconds(500)
    /// How long a gateway may take to respond to the first question (a TLS key update that requests a response).
    /// After this time, the farm assumes that the gateway responds to no questions.
    private static let trialTime = Duration.seconds(10)

    init(_ settings: BinarySettings, _ profile: BinaryGatewayProfile, at now: Instant) {
        (asksIfRead, self.profile, polledAt) = (settings.asksIfRead, profile, now)
    }

    /// - Parameters:
    ///   - unread: the number of sent bytes that the gateway has probably not read yet.
    ///   - responses: the number of responses to questions so far.
    /// - Returns: how many of the oldest pushes are safe, and whether the gateway has read bytes or responded to a
    ///   question since the last check.
    mutating func poll(
        _ window: inout SendWindow, unread: Int, responses: Int, at now: Instant
    ) -> (safe: Int, hasMoved: Bool) {
        // If the process was suspended, a reply may have arrived that is not read yet. So the quiet time starts again.
        if now - polledAt > Self.longestGap { window.restartQuiet(at: now) }
        polledAt = now
        let hasResponded = proof.responded(responses)
        if hasResponded { profile.respondsToQuestions = true }
        // A gateway that reads slowly still makes progress.
        let hasMoved = hasResponded || unread < self.unread
        self.unread = unread
        guard needsClock else { return (provenSafe(in: &window, at: now), hasMoved) }
        let hasArrived = window.arrived(allBut: unread, at: now)
        return (safeByClock(in: &window, at: now), hasMoved || hasArrived)
    }

    /// Returns how many of the oldest pushes are provably safe. The quiet time of a push begins when the gateway has
    /// provably read the push. It is over only when all replies that the gateway sent in this time have provably
    /// arrived.
    private func provenSafe(in window: inout SendWindow, at now: Instant) -> Int {
        window.arrived(upTo: proof.readUpTo, at: now)
        return proof.repliesArrivedUntil.map { window.safe(after: profile.quiet.current, at: $0) } ?? 0
    }

    /// Returns how many of the oldest pushes are safe according to the clock. Nothing proves here what the gateway has
    /// read: only the free space in the gateway's receive buffer shows it.
    private func safeByClock(in window: inout SendWindow, at now: Instant) -> Int {
        let isUnknown = asksIfRead && profile.respondsToQuestions == nil
        let quiet = profile.quiet.current
        let safe = window.safe(after: isUnknown ? max(quiet, Self.trialTime) : quiet, at: now)
        if isUnknown, safe > 0 { profile.respondsToQuestions = false }
        return safe
    }

    /// Whether the gateway has not yet read all sent bytes, or has not yet responded to a question.
    func isWaiting(for window: borrowing SendWindow, at now: Instant) -> Bool {
        needsClock ? !window.hasArrived : !window.isAllSent || needsProof(about: window, at: now)
    }

    /// Notes that the gateway read nothing for too long. If the gateway has responded to no question on this
    /// connection, the farm no longer assumes that the gateway responds to questions.
    func stalled() {
        if !proof.hasResponses, profile.respondsToQuestions == true { profile.respondsToQuestions = nil }
    }

    /// Whether to ask the gateway if it has read the sent bytes.
    func shouldAsk(about window: borrowing SendWindow, at now: Instant) -> Bool {
        asksIfRead && needsProof(about: window, at: now) && proof.mayAsk(at: now)
    }

    /// Notes a question that was sent after the first `end` bytes of the connection.
    mutating func asked(behind end: UInt64, at now: Instant) { proof.asked(behind: end, at: now) }

    /// Whether the quiet time must be counted by the clock: because the gateway cannot be asked, or because it has
    /// responded to no question on any connection.
    private var needsClock: Bool { !asksIfRead || !proof.hasResponses && profile.respondsToQuestions != true }

    /// Whether a response could prove that pushes have arrived or are safe, or that the gateway responds to
    /// questions.
    private func needsProof(about window: borrowing SendWindow, at now: Instant) -> Bool {
        proof.isBeginning || window.isUnderWay
            || window.nextSafe(after: profile.quiet.current).map { $0 <= now } ?? false
    }
}
