/// The limits that a job must not exceed.
package struct JobLimits: Hashable, Sendable {
    /// The maximum number of tokens, or pushes, in one job.
    package var tokens: Int
    /// The maximum payload size in bytes that the app's gateway allows. A push type may have a lower maximum.
    package var payloadBytes: Int
    /// True if the app's gateway allows only the topic of the app's certificate, so that a job cannot choose another topic.
    package var hasOneTopic: Bool
    /// The topics that a job may choose instead of the app's own topic, with or without a push type's suffix; nil: any topic.
    package var topics: [String]?
    /// The longest time in seconds that the job may already have waited in an inbox; 0 for a new job.
    /// An `expires_at` that passed at most this long ago is accepted: the pushes may have expired while the job waited.
    package var longestWait: Int64
    /// The names that placeholders may have; nil: any name. Campaigns allow only the attributes that their devices can have.
    package var placeholders: [String]?

    /// The allowed lengths of a decoded device token in bytes.
    package static let tokenBytes = 8...100
    /// The maximum time from now to `deliver_at`, and the maximum of `ttl`: the seconds of a leap year.
    package static let longestTime: Int64 = 366 * 86_400
    /// The latest Unix time that a job may contain, in the year 5138. A larger number is probably a time in milliseconds.
    package static let lastSecond: Int64 = 99_999_999_999
    /// The farm keeps at most this number of bytes of a malformed token.
    package static let malformedText = 200

    /// The value of ``longestWait`` for jobs that the intake reads: a day, in seconds.
    package static let intakeWait: Int64 = 86_400

    private static let longestLanguage = 35

    /// Whether a text can be the language of a push or of a translation: 1 to 35 letters, digits, `-` and `_`.
    package static func isLanguage(_ text: String) -> Bool {
        (1...longestLanguage).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                $0.isLetterOrDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
            }
    }

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
