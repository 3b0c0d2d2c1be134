import EventLoop
import FarmConfiguration
import StoreProtocol

/// What the whole farm may send of an app: as an operator wants it, else as it is configured.
@Loop final class AppRateLimit {
    private let context: AppContext
    /// nil: as it is configured.
    private var desired: DesiredRate?
    private var refusedValues = RefusedValues()

    init(_ context: AppContext) { self.context = context }

    var text: String { desired?.text ?? "as configured" }

    /// Pushes a second; 0: any number.
    func rate(_ configuration: AppConfiguration) -> Double {
        switch desired {
        case nil: configuration.budget.maxRate ?? 0
        case .off: 0
        case .limit(let rate): rate
        }
    }

    /// Follows what Redis says.
    /// - Returns: whether an operator wants another rate than before.
    func follow(_ appState: ReadAppState.State) -> Bool {
        if appState.refusedRate != nil { warnOfInvalidRate() }
        defer { desired = appState.rate }
        return appState.rate != desired
    }

    private func warnOfInvalidRate() {
        let place = String(decoding: context.keys.admission, as: UTF8.self) + " rate"
        guard refusedValues.shouldReport(at: place, now: .now) else { return }
        let rates = DesiredRate.rates
        context.log.warning(
            "a value is refused",
            metadata: [
                "at": "\(place)",
                "reason": "not off and not from \(rates.lowerBound) to \(rates.upperBound) pushes a second",
            ])
    }
}
