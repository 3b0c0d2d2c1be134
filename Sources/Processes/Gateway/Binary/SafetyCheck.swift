import BinaryProtocol
import FarmPolicy

/// Finds out which pushes of one connection's window are safe: by what the gateway's TLS proves that it has read, or else by the
/// clock.
struct SafetyCheck {
    private let asksIfRead: Bool
    private let experience: BinaryExperience
    private var proof = ReadProof()
    /// Bytes that the gateway has probably not read, when that was looked at last.
    private var unread = 0
    private var polledAt: Instant

    /// A longer time between two checks does not count as quiet.
    private static let longestGap = Duration.milliseconds(500)
    /// How long a new gateway may take to show whether it answers questions.
    private static let trialTime = Duration.seconds(10)

    init(_ settings: BinarySettings, _ experience: BinaryExperience, at now: Instant) {
        (asksIfRead, self.experience, polledAt) = (settings.asksIfRead, experience, now)
    }

    /// - Parameters:
    ///   - unread: bytes that have left and that the gateway has probably not read yet.
    ///   - answers: to questions, so far.
    /// - Returns: how many of the oldest pushes are safe, and whether the gateway has read or said something.
    mutating func poll(
        _ window: inout SendWindow, unread: Int, answers: Int, at now: Instant
    ) -> (safe: Int, hasMoved: Bool) {
        // After a process pause, replies may still be buffered: restart the quiet timer.
        if now - polledAt > Self.longestGap { window.restartQuiet(at: now) }
        polledAt = now
        let isAnswered = proof.answered(answers)
        if isAnswered { experience.answersQuestions = true }
        // A gateway that reads slowly has not stopped.
        let hasMoved = isAnswered || unread < self.unread
        self.unread = unread
        guard needsClock else { return (provenSafe(in: &window, at: now), hasMoved) }
        let hasArrived = window.arrived(allBut: unread, at: now)
        return (safeByClock(in: &window, at: now), hasMoved || hasArrived)
    }

    /// Quiet counts from when the gateway has read the bytes, until when it was heard last: both are proven.
    private func provenSafe(in window: inout SendWindow, at now: Instant) -> Int {
        window.arrived(upTo: proof.readUpTo, at: now)
        return proof.heardUntil.map { window.safe(after: experience.quiet.current, at: $0) } ?? 0
    }

    /// Only the room in the gateway's receive buffer shows what the gateway has read.
    private func safeByClock(in window: inout SendWindow, at now: Instant) -> Int {
        let isUnknown = asksIfRead && experience.answersQuestions == nil
        let quiet = experience.quiet.current
        let safe = window.safe(after: isUnknown ? max(quiet, Self.trialTime) : quiet, at: now)
        if isUnknown, safe > 0 { experience.answersQuestions = false }
        return safe
    }

    /// There is something that the gateway ought to take, or to say.
    func isWaiting(for window: borrowing SendWindow, at now: Instant) -> Bool {
        needsClock ? !window.hasArrived : !window.hasLeft || needsAnswer(about: window, at: now)
    }

    /// The gateway took nothing for too long: one that has answered here no question may answer none.
    func stalled() {
        if !proof.hasAnswers, experience.answersQuestions == true { experience.answersQuestions = nil }
    }

    /// The gateway should be asked whether it has read what has left.
    func wantsAnswer(about window: borrowing SendWindow, at now: Instant) -> Bool {
        asksIfRead && needsAnswer(about: window, at: now) && proof.mayAsk(at: now)
    }

    /// The gateway was asked behind the first `end` bytes of the connection.
    mutating func asked(behind end: UInt64, at now: Instant) { proof.asked(behind: end, at: now) }

    /// The gateway has answered no question so far, here or elsewhere, or cannot be asked.
    private var needsClock: Bool { !asksIfRead || !proof.hasAnswers && experience.answersQuestions != true }

    /// An answer would say of something that it has arrived, or that it is safe; or that there are answers.
    private func needsAnswer(about window: borrowing SendWindow, at now: Instant) -> Bool {
        proof.isBeginning || window.isUnderWay
            || window.nextSafe(after: experience.quiet.current).map { $0 <= now } ?? false
    }
}
