/// Since when places that another living host should own have been free.
///
/// It may not know that it should, or not be able to: a host that sees a free shard for long takes it.
package struct Vacancies<Place: Hashable & Sendable>: Sendable {
    /// As long as a lease: a host that lives has looked several times.
    package static var grace: Duration { .seconds(10) }

    private var since: [Place: Instant] = [:]

    package init() {}

    package mutating func see(_ place: Place, isFree: Bool, at now: Instant) {
        if !isFree { since[place] = nil } else if since[place] == nil { since[place] = now }
    }

    /// No host has taken it in time.
    package func isOverdue(_ place: Place, at now: Instant) -> Bool {
        since[place].map { $0.duration(to: now) >= Self.grace } ?? false
    }
}
