/// Faults of the feedback service.
package struct FeedbackFaults: Hashable, Sendable {
    /// Ends the stream in the middle of a tuple.
    package struct Cut: Hashable, Sendable {
        /// The number of complete tuples before the end.
        var after: Int
        var isReset: Bool
    }

    package var cut: Cut?
    /// Whether the connection stays open after the last tuple, without further bytes.
    package var stays = false
    /// The delay before the first tuple in milliseconds; nil means no delay.
    package var thinks: Int64?

    package init() {}
}

extension Change<FeedbackFaults> {
    /// Reads a command that switches a fault of the feedback service on or off. Returns nil if no fault has the name.
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
