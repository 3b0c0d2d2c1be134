/// The limits that a job must not exceed.
package struct JobLimits: Hashable, Sendable {
    /// The maximum number of tokens, or pushes, in one job.
    package var tokens: Int
    /// The maximum payload size in bytes, if the app's gateway allows less than the push type.
    package var payloadBytes: Int
    /// True if the app's certificate has only one topic, so that a job cannot choose another topic.
    package var hasOneTopic: Bool
    /// The topics that a job may choose instead of the app's own, also with a push type's suffix; nil: any topic.
    package var topics: [String]?
    /// Seconds that the job may have waited in an inbox. `expires_at` may be this far in the past; 0 for a new job.
    package var longestWait: Int64

    /// The allowed lengths of a decoded device token in bytes.
    package static let tokenBytes = 8...100
    /// The longest time from now to `deliver_at`, and the longest `ttl`: a leap year, in seconds.
    package static let longestTime: Int64 = 366 * 86_400
    /// The latest accepted Unix time, in the year 5138. A larger number is probably not in seconds.
    package static let lastSecond: Int64 = 99_999_999_999
    /// The number of bytes of a malformed token that are kept.
    package static let malformedText = 200

    /// The waiting time in an inbox that the intake assumes, in seconds: a day.
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
