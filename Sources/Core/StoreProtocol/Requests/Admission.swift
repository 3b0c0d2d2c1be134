package import RedisProtocol

/// Pauses an app: nothing new is checked out until it is resumed.
package struct PauseApp: Request {
    package static var script: Script? { .admission }
    /// Whether something changed.
    package typealias Reply = Bool

    package let words: [any CommandWord]

    /// - Parameters:
    ///   - fingerprint: names the credentials that failed, so that new ones can lift the pause; "" when they are not the cause.
    ///   - by: the operator who asks for it; "" when the farm does. Only operators lift a pause of theirs.
    package init(reason: String, fingerprint: String = "", by: String = "") {
        words = [ScriptKeys.prefix, "pause", reason.isEmpty ? "paused" : reason, fingerprint, by]
    }
}

package struct ResumeApp: Request {
    package enum Reply: Equatable, Sendable {
        case resumed
        case wasNotPaused
        /// An operator has paused it, and only the farm's own pauses were to be lifted.
        case heldByOperator
    }

    package static var script: Script? { .admission }

    package let words: [any CommandWord]

    /// - Parameter isOwn: lifts only a pause by the farm itself.
    package init(isOwn: Bool = false) {
        words = [ScriptKeys.prefix, "resume", isOwn ? "own" : "any"]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        switch value.integer {
        case 0: .wasNotPaused
        case 1: .resumed
        case 2: .heldByOperator
        default: throw .unexpectedReply("\(Self.self)")
        }
    }
}

/// The rate that an operator wants for an app, for the whole farm; it wins over the configuration.
package enum DesiredRate: Equatable, Sendable {
    /// No limit of the farm's.
    case off
    /// Pushes a second, within ``rates``.
    case limit(Double)

    /// One push in twelve days, and more than a farm sends.
    package static let rates = 1e-6...1e9

    /// As Redis holds it; nil if it is no valid rate.
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

/// Stores the rate that an operator wants; nil: as configured.
package struct SetRate: Request {
    package static var script: Script? { .admission }
    /// Whether something changed.
    package typealias Reply = Bool

    package let words: [any CommandWord]

    package init(_ rate: DesiredRate?, by: String) {
        words = [ScriptKeys.prefix, "rate", rate?.text, by]
    }
}

/// Opens or closes an app to producers, regardless of its load; nil: by its load.
package struct SetAdmission: Request {
    package enum Admission: String, Sendable {
        case open, closed
    }

    package static var script: Script? { .admission }
    /// Whether something changed.
    package typealias Reply = Bool

    package let words: [any CommandWord]

    package init(_ admission: Admission?, by: String) {
        words = [ScriptKeys.prefix, "admission", admission?.rawValue, by]
    }
}

/// What an app may hold at most.
package struct AppLimits: Hashable, Sendable {
    /// Open pushes, and jobs of the inbox, together.
    package var backlog: Int
    /// Jobs.
    package var inbox: Int
    package var inboxBytes: Int
    package var jobBytes: Int

    package init(backlog: Int, inbox: Int, inboxBytes: Int, jobBytes: Int) {
        (self.backlog, self.inbox, self.inboxBytes, self.jobBytes) = (backlog, inbox, inboxBytes, jobBytes)
    }
}

/// Why producers of an app are told to wait.
package enum FullReason: String, Sendable {
    /// Redis's memory: every app.
    case memory
    /// The app's open pushes.
    case backlog
    /// The app's inbox.
    case inbox
    /// An operator has closed it.
    case `operator`
}

/// Stores how full the farm is and what the app may hold; finds out whether the app is full.
package struct UpdateAdmission: Request {
    /// What is known of the farm's memory.
    package enum Memory: String, Sendable {
        case full, relieved
        /// Between the marks: as it was.
        case keep
    }

    package struct Reply: Equatable, Sendable {
        /// Nil if producers are welcome.
        package let full: FullReason?
        /// That has just begun or ended.
        package let isNew: Bool
        /// Open pushes.
        package let open: Int
        /// Jobs in the inbox.
        package let inbox: Int
        /// Batches that are ready or in flight; 0 while the app is paused.
        package let batches: Int
    }

    package static var script: Script? { .admission }

    package var memory: Memory
    /// Intake keeps to a trickle.
    package var isHeld: Bool
    /// How long producers are told to wait, up to twice as long.
    package var retryAfter: Duration
    package var limits: AppLimits

    package init(memory: Memory, isHeld: Bool, retryAfter: Duration, limits: AppLimits) {
        (self.memory, self.isHeld, self.retryAfter, self.limits) = (memory, isHeld, retryAfter, limits)
    }

    package var words: [any CommandWord] {
        [
            ScriptKeys.prefixAndInbox, "press", memory.rawValue, isHeld, max(.milliseconds(1), retryAfter),
            limits.backlog, limits.inbox, limits.inboxBytes, limits.jobBytes,
        ]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        return Reply(
            full: FullReason(rawValue: try reader.text()), isNew: try reader.flag(),
            open: try reader.integer(), inbox: try reader.integer(), batches: try reader.integer())
    }
}

/// Removes the mark of an app that no coordinator configures any more: `pushfarm_submit` then refuses its jobs.
///
/// A coordinator that does configure it brings the mark back with its next ``UpdateAdmission``.
package struct ForgetApp: Request {
    package static var script: Script? { .admission }
    /// Whether there was a mark.
    package typealias Reply = Bool

    package let words: [any CommandWord]

    /// - Parameter silence: only if no coordinator that configures it has pressed for so long, to within a minute.
    package init(silence: Duration) {
        words = [ScriptKeys.prefix, "forget", silence]
    }
}

/// Reads whether an app is paused or full, and what operators want for it.
package struct ReadAppState: Request {
    package struct Pause: Equatable, Sendable {
        package let reason: String
        package let fingerprint: String
        /// Unix milliseconds of Redis's clock.
        package let since: Int64
        /// The operator who asked for it; nil when the farm did.
        package var by: String?
    }

    package struct Fullness: Equatable, Sendable {
        package let reason: FullReason
        /// Unix milliseconds of Redis's clock.
        package let since: Int64
    }

    package struct State: Equatable, Sendable {
        /// Nil if it is not paused.
        package var pause: Pause?
        /// Nil if it is not full.
        package var full: Fullness?
        /// Nil: as configured.
        package var rate: DesiredRate?
        /// A stored rate that is not valid; the rate is as configured.
        package var refusedRate: String?
        /// Nil: by the app's load.
        package var admission: SetAdmission.Admission?
        /// Who asked for the rate, and for the admission.
        package var rateBy: String?
        package var admissionBy: String?
        /// Grows with each change of paused jobs, tokens and shards.
        package var holds = 0
        /// Cancelled jobs that are not finished.
        package var cancels = 0

        package init() {}
    }

    private static let fields = [
        "paused", "fingerprint", "since", "paused_by", "full", "full_since", "rate", "admission", "rate_by",
        "admission_by", "pause_changes", "cancels",
    ]

    package init() {}

    package var words: [any CommandWord] { ["HMGET", AppKey(\.admission), WordList(Self.fields)] }

    package static func read(_ value: RESPValue) throws(StoreError) -> State {
        let fields = try ReplyFields(value, fields, Self.self)
        var appState = State()
        appState.pause = fields.text("paused").map { reason in
            Pause(
                reason: reason, fingerprint: fields.text("fingerprint") ?? "", since: fields.moment("since"),
                by: fields.text("paused_by"))
        }
        appState.full = fields.text("full").flatMap(FullReason.init).map { reason in
            Fullness(reason: reason, since: fields.moment("full_since"))
        }
        let rate = fields.text("rate") ?? ""
        appState.rate = DesiredRate(rate)
        if appState.rate == nil, !rate.isEmpty { appState.refusedRate = rate }
        appState.admission = fields.text("admission").flatMap(SetAdmission.Admission.init)
        appState.rateBy = fields.text("rate_by")
        appState.admissionBy = fields.text("admission_by")
        appState.holds = fields.number("pause_changes")
        appState.cancels = fields.number("cancels")
        return appState
    }
}
