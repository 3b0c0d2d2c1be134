/// The limits that a job must not exceed.
package struct JobLimits: Hashable, Sendable {
    /// The maximum number of tokens, or pushes, in one job.
    package var tokens: Int
    /// The maximum payload size in bytes at the app's gateway. The push type may set a lower maximum.
    package var payloadBytes: Int
    /// True if the app's certificate has only one topic, so that a job cannot choose another topic.
    package var hasOneTopic: Bool
    /// The topics that a job may choose instead of the app's own topic; nil: any topic. A push type's suffix may follow a topic.
    package var topics: [String]?
    /// The longest time in seconds that the job may already have waited in an inbox; 0 for a new job.
    /// `expires_at` may be this number of seconds in the past.
    package var longestWait: Int64

    /// The allowed lengths of a decoded device token in bytes.
    package static let tokenBytes = 8...100
    /// The longest time from now to `deliver_at`, and the longest `ttl`: a leap year, in seconds.
    package static let longestTime: Int64 = 366 * 86_400
    /// The latest accepted Unix time, in the year 5138. A larger number is probably not in seconds.
    package static let lastSecond: Int64 = 99_999_999_999
    /// The maximum number of bytes of a malformed token's text that the farm keeps.
    package static let malformedText = 200

    /// The longest time that a job may have waited in its inbox, as the intake assumes, in seconds: a day.
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

/// Recognises the jobs of `pushfarm screen` by their ids. These jobs search for invalid tokens.
package enum ScreeningJob {
    package static let prefix = "screen-"

    package static func isScreening(_ job: String) -> Bool { job.hasPrefix(prefix) }
}
