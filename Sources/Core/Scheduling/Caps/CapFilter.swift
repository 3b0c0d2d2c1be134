/// Applies caps to the devices of one chunk, and counts the pushes that are accepted.
///
/// The caps of a campaign's category and the budget of background pushes can be in one filter. Devices of several zones share a
/// counter if it has the same name for the zones.
package struct CapFilter: Sendable {
    private var entries: [String: (counter: CapCounter, counts: CapCounts)] = [:]
    private var changed: Set<String> = []

    package init() {}

    /// Adds a counter with its stored counts.
    package mutating func add(_ counter: CapCounter, _ counts: CapCounts) {
        entries[counter.name] = (counter, counts)
    }

    /// Returns the first of a device's counters whose cap the device has reached; nil if the device may get a push.
    ///
    /// - Parameter counters: the counters of the device's zone.
    package func reached(by ordinal: UInt16, _ counters: [CapCounter]) -> CapCounter? {
        counters.first { counter in
            guard let cap = counter.cap, let entry = entries[counter.name] else { return false }
            return entry.counts.isReached(ordinal, cap: cap)
        }
    }

    /// Counts a push that was accepted.
    ///
    /// - Parameter counters: the counters of the device's zone.
    package mutating func count(_ ordinal: UInt16, _ counters: [CapCounter]) {
        for counter in counters {
            entries[counter.name]?.counts.add(CollectionOfOne(ordinal))
            changed.insert(counter.name)
        }
    }

    /// The counters with their new counts, to be stored, in order of their names. Empty if no push was counted.
    package var changes: [(counter: CapCounter, counts: CapCounts)] {
        changed.sorted().compactMap { entries[$0] }
    }
}
