/// Inboxes that belong to no configured app, such as those of a misspelt name: which of them to report.
///
/// They are found one after the other, counted repeatedly, and reported once they have existed for a while. An app whose
/// host has just started is not among them.
package struct StrayInboxes: Sendable {
    package struct Inbox: Hashable, Sendable {
        package let name: String
        package let jobs: Int
    }

    private struct SeenInbox {
        var since: Instant
        var jobs = 0
    }

    private var seen: [String: SeenInbox] = [:]

    /// So many are counted at most.
    package static let most = 100
    /// An inbox is reported when no coordinator has configured its app for so long.
    package static let gracePeriod = Duration.seconds(10)

    package init() {}

    /// To be counted.
    package var names: [String] { seen.keys.sorted() }

    /// These inboxes are there; those of configured apps are not among the stray ones, or not any more.
    package mutating func observe(_ found: [String], configured: Set<String>, at now: Instant) {
        seen = seen.filter { !configured.contains($0.key) }
        for name in found where !configured.contains(name) && seen.count < Self.most {
            if seen[name] == nil { seen[name] = SeenInbox(since: now) }
        }
    }

    /// So many jobs are in an inbox; one without jobs is forgotten.
    package mutating func count(_ name: String, jobs: Int) {
        guard seen[name] != nil else { return }
        if jobs > 0 { seen[name]?.jobs = jobs } else { seen[name] = nil }
    }

    package mutating func removeAll() { seen = [:] }

    /// Those that have been there for long enough, by name.
    package func reported(at now: Instant) -> [Inbox] {
        seen.filter { $0.value.jobs > 0 && $0.value.since.duration(to: now) >= Self.gracePeriod }
            .map { Inbox(name: $0.key, jobs: $0.value.jobs) }.sorted { $0.name < $1.name }
    }
}
