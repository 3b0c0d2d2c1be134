import EventLoop
import PushModel
import Scheduling
import StoreProtocol

/// Which periods the campaigns of each category cap. The pushes of all campaigns of a category count in these periods, because a
/// cap includes all pushes of the category.
///
/// The periods are stored in Redis and never removed, so a later campaign of the category also counts in them.
@Loop final class CappedPeriods {
    private let services: CampaignServices
    private var known: [String: Set<CapPeriod>]?

    init(_ services: CampaignServices) { self.services = services }

    /// Returns the periods of a category.
    func of(_ category: String) async throws(StoreError) -> Set<CapPeriod> {
        try await all()[category] ?? []
    }

    /// Adds the periods of a campaign's caps. Call this function before the campaign's first step.
    func add(_ periods: Set<CapPeriod>, to category: String) async throws(StoreError) {
        var all = try await all()
        let sum = (all[category] ?? []).union(periods)
        guard sum != all[category] ?? [] else { return }
        let text = CapPeriod.allCases.filter(sum.contains).map(\.rawValue).joined(separator: " ")
        _ = try await services.perform(StoreCapPeriods(category, periods: text))
        all[category] = sum
        known = all
    }

    private func all() async throws(StoreError) -> [String: Set<CapPeriod>] {
        if let known { return known }
        let stored = try await services.perform(ReadCapPeriods())
        let read = stored.mapValues { text in
            Set(text.prefix(100).split(separator: " ").compactMap { CapPeriod(rawValue: String($0)) })
        }
        known = read
        return read
    }
}
