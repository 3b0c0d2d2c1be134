/// Decides which inboxes to report because no host has configured their app, for example inboxes with a misspelt name.
///
/// A search of Redis finds the inboxes gradually. The jobs of found inboxes are counted repeatedly, and the inboxes are
/// reported after a grace period. The grace period excludes apps whose host has just started.
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

    /// The maximum number of inboxes to count.
    package static let most = 100
    /// The time before an inbox is reported. If a coordinator configures the inbox's app within this time, the inbox is not
    /// reported.
    package static let gracePeriod = Duration.seconds(10)

    package init() {}

    /// The names of the inboxes to count.
    package var names: [String] { seen.keys.sorted() }

    /// Adds inboxes that exist in Redis, and removes the inboxes of configured apps.
    package mutating func observe(_ found: [String], configured: Set<String>, at now: Instant) {
        seen = seen.filter { !configured.contains($0.key) }
        for name in found where !configured.contains(name) && seen.count < Self.most {
            if seen[name] == nil { seen[name] = SeenInbox(since: now) }
        }
    }

    /// Sets the number of jobs in an inbox; an inbox without jobs is removed.
    package mutating func count(_ name: String, jobs: Int) {
        guard seen[name] != nil else { return }
        if jobs > 0 { seen[name]?.jobs = jobs } else { seen[name] = nil }
    }

    package mutating func removeAll() { seen = [:] }

    /// Returns the inboxes that have existed for long enough, sorted by name.
    package func reported(at now: Instant) -> [Inbox] {
        seen.filter { $0.value.jobs > 0 && $0.value.since.duration(to: now) >= Self.gracePeriod }
            .map { Inbox(name: $0.key, jobs: $0.value.jobs) }.sorted { $0.name < $1.name }
    }
}
