import EventLoop
import FarmPolicy
import Logging
import PushModel
import RedisClient
import StoreProtocol

/// Looks for inboxes that belong to no configured app: a part of Redis's keys each second, from first to last and again.
@Loop final class InboxSearch {
    private let registry: FarmRegistry
    private let log: Logger
    private var inboxes = StrayInboxes()
    private var cursor = "0"
    /// When to search again after Redis refused the last search.
    private var nextSearch: ContinuousClock.Instant?

    /// Keys that are looked at in a second.
    private static let keys = 500
    /// Its user may be allowed to look meanwhile.
    private static let pause = Duration.seconds(60)

    init(_ registry: FarmRegistry, log: Logger) { (self.registry, self.log) = (registry, log) }

    /// Those to be reported.
    var found: [StrayInboxes.Inbox] { inboxes.reported(at: .now) }

    /// Another host looks.
    func pause() {
        inboxes.removeAll()
        cursor = "0"
    }

    /// To be called once a second.
    func search(configured: Set<String>) async {
        if let nextSearch, nextSearch > .now { return }
        do throws(RedisError) {
            let page = try await registry.inboxes(from: cursor, count: Self.keys)
            cursor = page.next
            inboxes.observe(page.names, configured: configured, at: .now)
            for name in inboxes.names {
                inboxes.count(name, jobs: try await registry.inboxLength(name))
            }
            nextSearch = nil
        } catch {
            // The next look is in a second, unless this user may not look.
            guard error.isRefusal else { return }
            defer { nextSearch = .now + Self.pause }
            guard nextSearch == nil else { return }
            log.warning(
                "cannot search for inboxes of unknown apps: the farm's Redis user needs +scan",
                metadata: ["error": "\(error)"])
        }
    }

    /// A text for operators; nil when there are no such inboxes.
    static func text(_ found: [StrayInboxes.Inbox], apps: [String]) -> String? {
        guard let first = found.first else { return nil }
        let name = Excerpt.of(first.name)
        let jobs = first.jobs == 1 ? "1 job" : "\(first.jobs) jobs"
        let meant = NearestWord.find(first.name, among: apps).map { "; did you mean \"\($0)\"?" } ?? ""
        let others = found.count == 1 ? "" : " (and \(found.count - 1) more such inboxes)"
        return
            "inbox pushfarm:\(name) holds \(jobs), and no running coordinator has an app \"\(name)\"\(meant)\(others)"
    }
}
