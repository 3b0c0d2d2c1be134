/// A push of a job that will not be sent, though the rest of the job is.
package struct MalformedPush: Hashable, Sendable {
    /// Its place in the job, from 0.
    package let index: Int
    package let fault: Fault
    /// Its token in the job's bytes; ``ParsedJob/text(of:)`` cuts it.
    package let text: Range<Int>

    package enum Fault: Hashable, Sendable {
        case tokenNotText
        case tokenNotHex
        case tokenOddDigits
        case tokenTooShort
        case tokenTooLong
        case payloadTooLarge(bytes: Int, limit: Int)
        case backgroundWith(BackgroundKey)
    }

    package var reason: String { fault.reason }
}

extension MalformedPush.Fault {
    /// What is wrong, in words for the developer who sent it.
    package var reason: String {
        switch self {
        case .tokenNotText: "a token must be a string of hex digits"
        case .tokenNotHex: "a token may hold hex digits only"
        case .tokenOddDigits: "a token must have an even number of hex digits"
        case .tokenTooShort: "a token must have at least \(2 * JobLimits.tokenBytes.lowerBound) hex digits"
        case .tokenTooLong: "a token must have at most \(2 * JobLimits.tokenBytes.upperBound) hex digits"
        case .payloadTooLarge(let bytes, let limit):
            "the payload has \(bytes) bytes; at most \(limit) are allowed"
        case .backgroundWith(let key): key.reason
        }
    }
}

/// What the `aps` of a background push may not hold.
package enum BackgroundKey: String, CaseIterable, Hashable, Sendable {
    case alert, badge, sound

    var reason: String {
        "a background push may not hold aps.\(rawValue); leave it out, or use push_type \"alert\""
    }
}
