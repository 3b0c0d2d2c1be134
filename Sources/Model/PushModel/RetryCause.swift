/// Why pushes are to be tried again; it decides how long they wait.
package enum RetryCause: UInt8, CaseIterable, Hashable, Sendable {
    /// The gateway wants fewer pushes to this device.
    case throttled = 1
    /// The gateway has trouble of its own.
    case server = 2
    /// The answer never came.
    case unknownOutcome = 3
    /// The gateway wants fewer provider tokens.
    case authSlow = 4
    /// The gateway could not process this push, and did not say why.
    case processing = 5
    /// It was not sent: its device has got more than the gateway likes, and cools.
    case cooling = 6

    /// The gateway got the push: that is an attempt.
    package var isAttempt: Bool { self != .cooling }
}
