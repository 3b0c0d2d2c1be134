import ControlChannel

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
