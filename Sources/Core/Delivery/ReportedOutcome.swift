package import PushModel
import StoreProtocol

/// The outcome of a push that was not delivered, as a worker reports it to Redis.
///
/// An outcome passes through these types, each more certain than the one before. A gateway's response is judged by a `Verdict`
/// (APNs), which says what it means for the push, its app and its connection. The connection makes a `SendOutcome` of it: delivered,
/// rejected (a ``Rejection`` with the verdict), unprocessed, or unknown. The sender makes a ``ReportedOutcome`` of it, which knows
/// the job's options: it says whether the push failed, expired or is to be retried. A ``HeldBatch`` keeps it with the push's
/// ``HeldBatch/PushState`` and packs it into an ``OutcomeReport``, which the coordinator settles.
package enum ReportedOutcome: Hashable {
    /// Permanently, because of the token. `isDead`: the gateway declared the token invalid; `scope`: where it is suppressed from now on.
    case failed(reason: String, status: UInt16, isDead: Bool, scope: String? = nil)
    /// Permanently, though the token is fine.
    case refused(reason: String, status: UInt16)
    /// Not sent: the token is suppressed, for this reason.
    case suppressed(cause: String)
    /// The outcome is unknown, and the job wants it at most once.
    case becameUnknown(cause: String)
    /// Its deadline passed before it was sent.
    case expired
    case retry(RetryCause, status: UInt16, reason: String, retryAfterMilliseconds: UInt32)

    /// Whether it holds for any owner, whatever happened to the batch meanwhile.
    var isFinal: Bool {
        switch self {
        case .failed, .refused, .becameUnknown: true
        case .suppressed, .expired, .retry: false
        }
    }

    /// Whether it is reported with all that is needed to send the push again.
    var bringsSegment: Bool {
        switch self {
        case .refused, .becameUnknown, .retry: true
        case .failed, .suppressed, .expired: false
        }
    }
}

extension HeldBatch {
    /// The state of one push of the batch, from here to Redis.
    enum PushState: UInt8 {
        case open, inFlight, delivered, other, reportingDelivered, reportingOther, reportedDelivered,
            reportedOther
        /// Redis has its outcome from another owner.
        case known

        /// Redis has the outcome.
        var isReported: Bool { self == .known || self == .reportedDelivered || self == .reportedOther }
        /// The outcome is known here, and no report carries it.
        var isUnreported: Bool { self == .delivered || self == .other }
    }
}

/// One report's content, as Redis gets it.
struct OutcomeReport {
    let runs: PositionRuns
    let entry: [UInt8]
    /// It holds only outcomes that hold for any owner.
    let isFinal: Bool

    /// About what it takes in memory.
    var byteCount: Int { runs.bytes.count + entry.count + 96 }
}
