import ControlChannel
import FarmPolicy

/// What an operator lets one worker send for an app; nil: any amount.
struct RateLimits: Hashable {
    /// Pushes a second.
    var rate: Double?
    /// Bits a second.
    var bandwidth: Double?

    init() {}

    init(_ use: AppSetup.Use) {
        rate = use.maxRate > 0 ? use.maxRate : nil
        bandwidth = use.maxBandwidth > 0 ? use.maxBandwidth : nil
    }
}

extension FarmBudget {
    init(_ use: AppSetup.Use) {
        self.init(
            rate: use.budgetRate > 0 ? use.budgetRate : nil,
            bandwidth: use.budgetBandwidth > 0 ? use.budgetBandwidth : nil,
            connections: use.budgetConnections > 0 ? Int(use.budgetConnections) : nil)
    }
}
