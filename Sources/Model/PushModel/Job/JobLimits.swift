/// What a job may ask for at most.
package struct JobLimits: Hashable, Sendable {
    /// Tokens, or pushes, of one job.
    package var tokens: Int
    /// Bytes of a payload, if the app's gateway takes less than the push type allows.
    package var payloadBytes: Int
    /// The app's certificate has one topic, so a job cannot choose another.
    package var hasOneTopic: Bool
    /// The topics that a job may choose besides the app's own, each also with the suffix of a push type; nil: any.
    package var topics: [String]?
    /// Seconds that a job may have waited in an inbox, and by which `expires_at` may lie in the past; 0 for a new job.
    package var longestWait: Int64

    /// The bytes of a decoded device token.
    package static let tokenBytes = 8...100
    /// How far ahead `deliver_at` may lie, and the longest `ttl`: a leap year, in seconds.
    package static let longestTime: Int64 = 366 * 86_400
    /// A later time, after the year 5138, was not meant in seconds.
    package static let lastSecond: Int64 = 99_999_999_999
    /// Bytes of a malformed token that are kept.
    package static let malformedText = 200

    /// The wait in an inbox that the intake assumes, in seconds: a day.
    package static let intakeWait: Int64 = 86_400

    package init(
        tokens: Int = 100_000, payloadBytes: Int = .max, hasOneTopic: Bool = false, topics: [String]? = nil,
        longestWait: Int64 = 0
    ) {
        self.tokens = tokens
        self.payloadBytes = payloadBytes
        self.hasOneTopic = hasOneTopic
        self.topics = topics
        self.longestWait = longestWait
    }
}

/// Recognises jobs of `pushfarm screen`, which look for invalid tokens, by their ids.
package enum ScreeningJob {
    package static let prefix = "screen-"

    package static func isScreening(_ job: String) -> Bool { job.hasPrefix(prefix) }
}
