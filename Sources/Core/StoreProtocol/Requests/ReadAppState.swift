package import RedisProtocol

/// Reads whether an app is paused or full, and the operators' settings for the app.
package struct ReadAppState: Request {
    package struct Pause: Equatable, Sendable {
        package let reason: String
        package let fingerprint: String
        /// When the pause began, in Unix milliseconds of Redis's clock.
        package let since: Int64
        /// The operator who paused the app; nil if the farm itself paused it.
        package var by: String?
    }

    package struct Fullness: Equatable, Sendable {
        package let reason: FullReason
        /// When the app became full, in Unix milliseconds of Redis's clock.
        package let since: Int64
    }

    package struct State: Equatable, Sendable {
        /// The app's pause; nil if the app is not paused.
        package var pause: Pause?
        /// Why the app is full; nil if the app is not full.
        package var full: Fullness?
        /// The rate that an operator set; nil if the configured rate applies.
        package var rate: DesiredRate?
        /// The text of the stored rate, if it is not a valid rate; otherwise nil. Instead of an invalid rate, the configured rate
        /// applies.
        package var refusedRate: String?
        /// Whether an operator opened or closed the app to producers; nil if the app's load decides.
        package var admission: SetAdmission.Admission?
        /// The operator who set the rate; nil if no operator did.
        package var rateBy: String?
        /// The operator who opened or closed the app; nil if no operator did.
        package var admissionBy: String?
        /// A number that grows with each change of paused jobs, tokens and shards.
        package var pauseChanges = 0
        /// The number of cancelled jobs that are not finished.
        package var cancels = 0

        package init() {}
    }

    private static let fields = [
        "paused", "fingerprint", "since", "paused_by", "full", "full_since", "rate", "admission", "rate_by",
        "admission_by", "pause_changes", "cancels",
    ]

    package init() {}

    package var words: [any CommandArgument] { ["HMGET", AppKey(\.admission), ArgumentList(Self.fields)] }

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
        appState.pauseChanges = fields.number("pause_changes")
        appState.cancels = fields.number("cancels")
        return appState
    }
}
