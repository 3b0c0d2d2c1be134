package import PushModel
import StoreProtocol

/// The outcome of a push that was not delivered, as a worker reports it to Redis.
///
/// A gateway's response passes through several types until its outcome is settled. A `Verdict` (APNs) says what the response
/// means for the push, its app and its connection. The connection turns the verdict into a `SendOutcome`: delivered, rejected (a
/// ``Rejection`` with the verdict), unprocessed, or unknown. The sender applies the job's options and makes a
/// ``UndeliveredResult``: failed, expired or to be retried. A ``HeldBatch`` keeps the ``UndeliveredResult`` with the push's
/// ``HeldBatch/PushState``, and packs both into an ``OutcomeReport``. The coordinator settles the report.
package enum UndeliveredResult: Hashable {
    /// A permanent failure because of the token. `isInvalidToken` is true if the gateway declared the token invalid. `scope` is
    /// the scope in which the token is suppressed from now on.
    case tokenFailed(reason: String, status: UInt16, isInvalidToken: Bool, scope: String? = nil)
    /// A permanent failure with a valid token.
    case deadLetter(reason: String, status: UInt16)
    /// The push was not sent, because its token is suppressed; `cause` is the reason of the suppression.
    case suppressed(cause: String)
    /// The gateway's response was lost, and the job allows at most one attempt.
    case becameUnknown(cause: String)
    /// The push's deadline passed before it was sent.
    case expired
    case retry(RetryCause, status: UInt16, reason: String, retryAfterMilliseconds: UInt32)

    /// Whether Redis accepts the outcome from any worker, even if another worker has taken over the batch.
    var isFact: Bool {
        switch self {
        case .tokenFailed, .deadLetter, .becameUnknown: true
        case .suppressed, .expired, .retry: false
        }
    }

    /// Whether the report includes all data that is needed to send the push again.
    var bringsJobPart: Bool {
        switch self {
        case .deadLetter, .becameUnknown, .retry: true
        case .tokenFailed, .suppressed, .expired: false
        }
    }
}

extension HeldBatch {
    /// The state of one push of the batch, from open until Redis has its outcome.
    enum PushState: UInt8 {
        case open, inFlight, delivered, other, reportingDelivered, reportingOther, reportedDelivered,
            reportedOther
        /// Redis has the outcome from another owner.
        case known

        /// Whether Redis has the outcome.
        var isReported: Bool { self == .known || self == .reportedDelivered || self == .reportedOther }
        /// Whether the outcome is known and in no report yet.
        var isUnreported: Bool { self == .delivered || self == .other }
    }
}

/// The content of one report to Redis.
struct OutcomeReport {
    let runs: PositionRuns
    let entry: [UInt8]
    /// Whether Redis accepts all outcomes of the report from any worker.
    let hasOnlyFacts: Bool

    /// The approximate memory size of the report.
    var byteCount: Int { runs.bytes.count + entry.count + 96 }
}
