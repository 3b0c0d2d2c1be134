import Scheduling

/// Why a campaign would learn little about its variants.
package enum LearningWarning: Hashable, Sendable, CustomStringConvertible {
    /// The whole audience has a push before the first rewards arrive. Times are in milliseconds.
    case audienceIsGone(pushes: Int, rate: Double, needed: Int64, delay: Int64)
    /// Most of the audience has a push before the first rewards arrive.
    case fewRemain(percent: Int, rate: Double, delay: Int64)
    /// The wait of the exploration ends before the rewards arrive. Both times are in milliseconds.
    case shortWait(wait: Int64, delay: Int64)
    /// Each variant is explored with only this number of devices.
    case fewDevices(Int)

    package var description: String {
        switch self {
        case .audienceIsGone(let pushes, let rate, let needed, let delay):
            "\(PlanText.pushes(pushes)) at \(PlanText.rate(rate)) a second take \(PlanText.duration(needed)); rewards arrive after \(PlanText.duration(delay)), so the campaign learns nothing; set explore or a lower rate"
        case .fewRemain(let percent, let rate, let delay):
            "at \(PlanText.rate(rate)) pushes a second, \(percent) % of the audience has a push when rewards arrive after \(PlanText.duration(delay)); set explore or a lower rate"
        case .shortWait(let wait, let delay):
            "explore waits \(PlanText.duration(wait)), but rewards arrive after \(PlanText.duration(delay))"
        case .fewDevices(let count):
            "explore sends each variant to \(PlanText.number(count)) devices; \(LearningForecast.leastDevices) or more are needed"
        }
    }
}

/// Predicts whether a campaign gets rewards while it still has devices for the better variants.
package struct LearningForecast: Hashable, Sendable {
    /// With 100 devices, the Wilson interval of a reward rate is at most 0.2 wide. Fewer devices say little.
    package static let leastDevices = 100
    /// A warning is given if less than this share of the audience is left when rewards arrive.
    private static let leastRemaining = 0.5

    /// One-line warnings. Empty if the campaign can learn, or has nothing to learn.
    package let warnings: [LearningWarning]

    /// - Parameters:
    ///   - audience: the number of devices without the held-out devices.
    ///   - rate: pushes a second, above 0.
    ///   - delay: the milliseconds after which most rewards have arrived.
    ///   - earlierPulls: the devices of each variant in earlier runs of the series.
    package init(
        audience: Int, rate: Double, delay: Int64, policy: LearningPolicy, variants: Int,
        earlierPulls: [Int] = []
    ) {
        let isKnown =
            earlierPulls.count >= variants && earlierPulls.allSatisfy { $0 >= Self.leastDevices }
        guard policy.allocation != .even, variants > 1, audience > 0, rate > 0, delay > 0, !isKnown else {
            warnings = []
            return
        }
        warnings =
            policy.exploration.map { Self.warnings(of: $0, audience, delay, variants) }
            ?? Self.warning(audience, rate, delay).map { [$0] } ?? []
    }

    private static func warnings(
        of exploration: LearningPolicy.Exploration, _ audience: Int, _ delay: Int64, _ variants: Int
    ) -> [LearningWarning] {
        var warnings: [LearningWarning] = []
        if exploration.wait < delay { warnings.append(.shortWait(wait: exploration.wait, delay: delay)) }
        let devices = exploration.devices(of: audience) / variants
        if devices < leastDevices { warnings.append(.fewDevices(devices)) }
        return warnings
    }

    private static func warning(_ audience: Int, _ rate: Double, _ delay: Int64) -> LearningWarning? {
        let sent = rate * Double(delay) / 1000
        guard sent < Double(audience) else {
            let needed = Int64(clamping: Double(audience) / rate * 1000)
            return .audienceIsGone(pushes: audience, rate: rate, needed: needed, delay: delay)
        }
        let share = sent / Double(audience)
        guard 1 - share < leastRemaining else { return nil }
        return .fewRemain(percent: Int(clamping: share * 100), rate: rate, delay: delay)
    }
}
