import EventLoop
import FarmConfiguration
import StoreProtocol

/// The rate limit of an app, which all hosts together observe: the rate that an operator has set, or else the
/// configured rate.
@Loop final class AppRateLimit {
    private let context: AppContext
    /// The rate that an operator has set; nil if the configured rate applies.
    private var desired: DesiredRate?
    private var refusedValues = RefusedValueLog()

    init(_ context: AppContext) { self.context = context }

    var text: String { desired?.text ?? "as configured" }

    /// Pushes per second; 0 means no limit.
    func rate(_ configuration: AppConfiguration) -> Double {
        DesiredRate.limit(desired, configured: configuration.budget.maxRate) ?? 0
    }

    /// Applies the rate that is stored in Redis.
    /// - Returns: whether the operator's rate has changed.
    func apply(_ appState: ReadAppState.State) -> Bool {
        if appState.refusedRate != nil { warnOfInvalidRate() }
        defer { desired = appState.rate }
        return appState.rate != desired
    }

    private func warnOfInvalidRate() {
        let source = String(decoding: context.keys.admission, as: UTF8.self) + " rate"
        guard refusedValues.shouldReport(at: source, now: .now) else { return }
        let rates = DesiredRate.rates
        context.log.warning(
            "a value is refused",
            metadata: [
                "at": "\(source)",
                "reason": "not off and not from \(rates.lowerBound) to \(rates.upperBound) pushes a second",
            ])
    }
}
