/// What a whole farm makes of an app's gateway at most, shared out over its hosts and workers; nil: any amount.
package struct GatewayBudget: Sendable, Equatable {
    /// Pushes a second.
    package var maxRate: Double?
    /// Bits a second.
    package var maxBandwidth: Double?
    package var maxConnections: Int?

    package init() {}
}
