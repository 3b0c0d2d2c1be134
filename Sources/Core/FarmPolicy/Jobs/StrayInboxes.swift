/// Decides which inboxes are reported to operators, because no host has configured an app of this name. Often the
/// producer has misspelt the app's name.
///
/// The caller searches Redis step by step, adds the inboxes that it finds, and counts the jobs of these inboxes again
/// and again. An inbox is reported only after a grace period, because the host of its app may have just started.
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
    /// How long after its first observation an inbox is reported, unless a host has configured its app by then.
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
