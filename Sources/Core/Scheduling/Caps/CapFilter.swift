/// Applies caps to the devices of one chunk and zone, and counts the pushes that are accepted.
///
/// The caps of a campaign's category and the budget of background pushes can be in one filter.
package struct CapFilter: Sendable {
    private var entries: [(counter: CapCounter, counts: CapCounts)]
    private var hasNewCounts = false

    /// - Parameters:
    ///   - counters: the counters of ``CapRules``; their names must differ.
    ///   - counts: reads the stored counts of a counter.
    package init<Failure: Error>(
        _ counters: [CapCounter], counts: (CapCounter) throws(Failure) -> CapCounts
    ) throws(Failure) {
        entries = []
        for counter in counters { entries.append((counter, try counts(counter))) }
    }

    /// Returns the first counter whose cap a device has reached; nil if the device may get a push.
    package func reached(by ordinal: UInt16) -> CapCounter? {
        entries.first { entry in
            entry.counter.cap.map { entry.counts.isReached(ordinal, cap: $0) } ?? false
        }?.counter
    }

    /// Counts a push that was accepted.
    package mutating func count(_ ordinal: UInt16) {
        for index in entries.indices { entries[index].counts.add(CollectionOfOne(ordinal)) }
        hasNewCounts = true
    }

    /// The counters with their new counts, to be stored. Empty if no push was counted.
    package var changes: [(counter: CapCounter, counts: CapCounts)] { hasNewCounts ? entries : [] }
}
