package import Scheduling

/// Decides which devices of a step get no push because of caps, the budget of background pushes, or quiet hours, and counts the
/// pushes that are accepted.
///
/// All devices are of one chunk. Their zones decide which counters they have.
package struct AudienceLimits: Sendable {
    /// Whether a device gets its push.
    package enum Verdict: Hashable, Sendable {
        case allowed
        /// The device has reached a cap or the budget.
        case capped
        /// The clocks of the device's zone show quiet hours.
        case quiet
    }

    private struct Zone {
        let counters: [CapCounter]
        let isQuiet: Bool
    }

    private var zones: [String: Zone] = [:]
    private var filter = CapFilter()

    /// - Parameters:
    ///   - rules: the rules of the campaign's category, and those of the budget; their categories differ.
    ///   - zones: the zones of the devices by name.
    ///   - time: when the pushes are accepted.
    package init(
        _ rules: [CapRules], quiet: QuietHours?, zones: [String: TimeZoneRules], at time: UTCTime
    ) {
        for (name, zone) in zones {
            self.zones[name] = Zone(
                counters: rules.flatMap { $0.counters(at: time, in: zone) },
                isQuiet: quiet?.contains(time, in: zone) ?? false)
        }
    }

    /// The counters of all zones, whose counts the caller must give to ``load(_:_:)``. Their names differ.
    package var counters: [CapCounter] {
        var names: Set<String> = []
        return zones.values.flatMap(\.counters).filter { names.insert($0.name).inserted }
            .sorted { $0.name < $1.name }
    }

    /// Takes the stored counts of a counter.
    package mutating func load(_ counter: CapCounter, _ counts: CapCounts) { filter.add(counter, counts) }

    /// Decides about a device of a zone. A zone that was not given has no limits.
    package func verdict(on ordinal: UInt16, in zone: String) -> Verdict {
        guard let zone = zones[zone] else { return .allowed }
        if zone.isQuiet { return .quiet }
        return filter.reached(by: ordinal, zone.counters) == nil ? .allowed : .capped
    }

    /// Counts a push to a device of a zone.
    package mutating func count(_ ordinal: UInt16, in zone: String) {
        if let zone = zones[zone] { filter.count(ordinal, zone.counters) }
    }

    /// The counters with their new counts, which the step stores.
    package var changes: [(counter: CapCounter, counts: CapCounts)] { filter.changes }
}

extension CampaignLimits {
    /// The rules of the campaign's category.
    ///
    /// - Parameter counted: the periods that campaigns of the category cap.
    package func rules(counted: some Sequence<CapPeriod>) throws(ScheduleError) -> CapRules {
        var caps: [Scheduling.Cap] = []
        for cap in self.caps { caps.append(try Scheduling.Cap(pushes: cap.pushes, period: cap.period)) }
        return try CapRules(category: category, caps: caps, counted: counted)
    }

    /// The quiet hours; nil if there are none.
    package func quietHours() throws(ScheduleError) -> QuietHours? { try quiet?.hours() }
}

extension CampaignLimits.Quiet {
    func hours() throws(ScheduleError) -> QuietHours { try QuietHours(from: from, to: to) }
}
