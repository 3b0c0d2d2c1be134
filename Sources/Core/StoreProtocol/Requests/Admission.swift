package import RedisProtocol

/// Pauses an app: workers check out no new batches until the app is resumed.
package struct PauseApp: Request {
    package static var script: Script? { .updateApp }
    /// Whether the call changed something.
    package typealias Reply = Bool

    package let words: [any CommandArgument]

    /// - Parameters:
    ///   - fingerprint: identifies the credentials that failed: the farm resumes the app when it has credentials with another
    ///     fingerprint. "" if the pause has another cause.
    ///   - by: the operator who requests the pause; "" if the farm itself pauses the app. Only an operator can end an operator's
    ///     pause.
    package init(reason: String, fingerprint: String = "", by: String = "") {
        words = [ScriptKeys.prefix, "pause", reason.isEmpty ? "paused" : reason, fingerprint, by]
    }
}

package struct ResumeApp: Request {
    package enum Reply: Equatable, Sendable {
        case resumed
        case wasNotPaused
        /// The app stays paused, because an operator paused it and `isOwn` is true.
        case pausedByOperator
    }

    package static var script: Script? { .updateApp }

    package let words: [any CommandArgument]

    /// - Parameter isOwn: whether to resume the app only if the farm itself paused it.
    package init(isOwn: Bool = false) {
        words = [ScriptKeys.prefix, "resume", isOwn ? "own" : "any"]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        switch value.integer {
        case 0: .wasNotPaused
        case 1: .resumed
        case 2: .pausedByOperator
        default: throw .unexpectedReply("\(Self.self)")
        }
    }
}

/// An app's rate limit for the whole farm, set by an operator. The operator's limit overrides the configured limit.
package enum DesiredRate: Equatable, Sendable {
    /// The farm does not limit the rate.
    case off
    /// Pushes per second, within ``rates``.
    case limit(Double)

    /// The valid rates: from one push in twelve days to more than a farm can send.
    package static let rates = 1e-6...1e9

    /// The rate limit of an app for the whole farm: the rate that an operator set, or else the configured rate. In pushes a
    /// second; nil if there is no limit.
    package static func limit(_ desired: DesiredRate?, configured: Double?) -> Double? {
        switch desired {
        case nil: configured
        case .off: nil
        case .limit(let rate): rate
        }
    }

    /// Reads the rate from its text in Redis; nil if the text is not a valid rate.
    package init?(_ text: String) {
        if text == "off" {
            self = .off
        } else if let rate = Double(text), Self.rates.contains(rate) {
            self = .limit(rate)
        } else {
            return nil
        }
    }

    package var text: String {
        switch self {
        case .off: "off"
        case .limit(let rate): rate == rate.rounded() && rate < 1e9 ? "\(Int(clamping: rate))" : "\(rate)"
        }
    }
}

/// Stores the rate that an operator wants; nil restores the configured rate.
package struct SetRate: Request {
    package static var script: Script? { .updateApp }
    /// Whether the call changed something.
    package typealias Reply = Bool

    package let words: [any CommandArgument]

    package init(_ rate: DesiredRate?, by: String) {
        words = [ScriptKeys.prefix, "rate", rate?.text, by]
    }
}

/// Opens or closes an app to producers, regardless of its load. With nil, the app's load decides.
package struct SetAdmission: Request {
    package enum Admission: String, Sendable {
        case open, closed
    }

    package static var script: Script? { .updateApp }
    /// Whether the call changed something.
    package typealias Reply = Bool

    package let words: [any CommandArgument]

    package init(_ admission: Admission?, by: String) {
        words = [ScriptKeys.prefix, "admission", admission?.rawValue, by]
    }
}

/// The limits of an app: when a limit is reached, the farm tells producers to wait.
package struct AppLimits: Hashable, Sendable {
    /// Maximum number of open pushes plus jobs in the inbox.
    package var backlog: Int
    /// Maximum number of jobs in the inbox.
    package var inbox: Int
    package var inboxBytes: Int
    package var jobBytes: Int

    package init(backlog: Int, inbox: Int, inboxBytes: Int, jobBytes: Int) {
        (self.backlog, self.inbox, self.inboxBytes, self.jobBytes) = (backlog, inbox, inboxBytes, jobBytes)
    }
}

/// Why the farm tells producers of an app to wait.
package enum FullReason: String, Sendable {
    /// Redis's memory is full, so the producers of all apps must wait.
    case memory
    /// The app has too many open pushes.
    case backlog
    /// The app's inbox contains too many jobs or bytes.
    case inbox
    /// An operator closed the app.
    case `operator`
}

/// Stores the state of Redis's memory and the app's limits, computes whether the app is full, and cancels the jobs that producers
/// asked to cancel.
package struct UpdateAdmission: Request {
    /// The state of Redis's memory.
    package enum Memory: String, Sendable {
        case full, relieved
        /// The memory use is between the thresholds for `relieved` and `full`, so the stored state does not change.
        case keep
    }

    package struct Reply: Equatable, Sendable {
        /// Why the app is full; nil if producers may submit jobs.
        package let full: FullReason?
        /// Whether the app became full, or stopped being full, with this call.
        package let isNew: Bool
        /// Open pushes of the app.
        package let open: Int
        /// Jobs in the app's inbox.
        package let inbox: Int
        /// Batches that are ready or in flight; 0 while the app is paused.
        package let batches: Int
    }

    package static var script: Script? { .updateApp }

    package var memory: Memory
    /// Whether the intake may make only a few batches at a time.
    package var limitsIntake: Bool
    /// The minimum time that producers are told to wait. The maximum is twice this time.
    package var retryAfter: Duration
    package var limits: AppLimits
    /// Seconds to keep the record of a job that a producer cancels.
    package var jobRecordSeconds: Int

    package init(
        memory: Memory, limitsIntake: Bool, retryAfter: Duration, limits: AppLimits, jobRecordSeconds: Int
    ) {
        (self.memory, self.limitsIntake, self.retryAfter) = (memory, limitsIntake, retryAfter)
        (self.limits, self.jobRecordSeconds) = (limits, jobRecordSeconds)
    }

    package var words: [any CommandArgument] {
        [
            ScriptKeys.prefixAndInbox, "update", memory.rawValue, limitsIntake,
            max(.milliseconds(1), retryAfter),
            limits.backlog, limits.inbox, limits.inboxBytes, limits.jobBytes, jobRecordSeconds,
        ]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        return Reply(
            full: FullReason(rawValue: try reader.text()), isNew: try reader.flag(),
            open: try reader.integer(), inbox: try reader.integer(), batches: try reader.integer())
    }
}

/// Removes an app that no coordinator configures any more; `pushfarm_submit` then refuses its jobs.
///
/// If a coordinator still configures the app, its next ``UpdateAdmission`` adds the app again.
package struct ForgetApp: Request {
    package static var script: Script? { .updateApp }
    /// Whether the app existed.
    package typealias Reply = Bool

    package let words: [any CommandArgument]

    /// - Parameter silence: the app is removed only if no coordinator has updated it for this time. The time is
    ///   accurate to a minute.
    package init(silence: Duration) {
        words = [ScriptKeys.prefix, "forget", silence]
    }
}
