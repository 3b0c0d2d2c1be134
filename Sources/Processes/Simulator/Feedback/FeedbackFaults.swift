/// Faults of the feedback service.
package struct FeedbackFaults: Hashable, Sendable {
    /// The stream ends in the middle of a tuple.
    package struct Cut: Hashable, Sendable {
        /// Whole tuples before the end.
        var after: Int
        var isReset: Bool
    }

    package var cut: Cut?
    /// The connection stays open behind the last tuple, in silence.
    package var stays = false
    /// Milliseconds before the first tuple.
    package var thinks: Int64?

    package init() {}
}

extension Change<FeedbackFaults> {
    /// One fault of the feedback service switched on or off; nil if `name` is none of them.
    init?(_ name: String, _ words: inout FaultWords) throws(SimulatorError) {
        switch name {
        case "cut" where words.take("off"): self = .set(\.cut, to: nil)
        case "cut":
            let after = try words.count(in: 0...Int(Int32.max))
            self = .set(\.cut, to: FeedbackFaults.Cut(after: after, isReset: words.take("reset")))
        case "stay": self = .set(\.stays, to: try words.choice("on", or: "off"))
        case "think": self = .set(\.thinks, to: words.take("off") ? nil : try words.time())
        default: return nil
        }
    }
}
