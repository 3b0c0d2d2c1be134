import PushModel

/// Decides whether a campaign pauses because too many of its last pushes failed (`stop_at`).
///
/// The guard keeps results in groups of ``groupSize`` in the order of their arrival. A report does not say which of its
/// results failed, so its failures are distributed evenly among its results. After 1,000 results, the guard considers
/// the last 1,000 to 1,049 results.
package struct FailureGuard: Hashable, Sendable {
    /// The number of last results that the guard considers; up to 49 more results can be considered.
    package static let window = 1000
    /// The default of `stop_at`.
    package static let defaultShare = 0.2
    /// The default of the number of results before which the guard never stops a campaign.
    package static let defaultLeast = 100

    static let groupSize = 50

    struct Group: Hashable, Sendable {
        var results = 0
        var failed = 0
    }

    /// Counts of a job record.
    struct Totals: Hashable, Sendable {
        var delivered = 0
        var failed = 0
    }

    /// The share of failed pushes, 0...1. A greater share stops the campaign.
    private let share: Double
    /// The guard does not stop a campaign with fewer results.
    private let least: Int
    /// Oldest first. All groups but the last have ``groupSize`` results.
    private(set) var groups: [Group]
    /// The counts of the job record that ``observe(delivered:failed:)`` saw last.
    private(set) var seen: Totals

    /// - Parameters:
    ///   - share: 0...1; with 1, the guard never stops a campaign.
    ///   - least: 1...1,000.
    package init(share: Double = defaultShare, least: Int = defaultLeast) throws(ScheduleError) {
        try self.init(share: share, least: least, groups: [], seen: Totals())
    }

    init(share: Double, least: Int, groups: [Group], seen: Totals) throws(ScheduleError) {
        guard (0...1).contains(share) else {
            throw ScheduleError(field: .stopAt, reason: "a share from 0 % to 100 % is needed")
        }
        guard (1...Self.window).contains(least) else {
            throw ScheduleError(field: .stopAt, reason: "1 to \(Self.window) results are needed")
        }
        (self.share, self.least, self.groups, self.seen) = (share, least, groups, seen)
    }

    /// The number of results that the guard considers now.
    package var results: Int { groups.reduce(0) { $0 + $1.results } }

    /// The number of failed pushes among ``results``.
    package var failed: Int { groups.reduce(0) { $0 + $1.failed } }

    /// Whether the campaign must pause.
    package var stops: Bool {
        let results = results
        return results >= least && Double(failed) > share * Double(results)
    }

    /// Adds the outcomes since the last call, from the present counts of the campaign's job record. A count that became
    /// lower, for example by a repair, adds nothing.
    package mutating func observe(delivered: Int, failed: Int) {
        let now = Totals(delivered: Int(foreign: max(0, delivered)), failed: Int(foreign: max(0, failed)))
        add(delivered: now.delivered - seen.delivered, failed: now.failed - seen.failed)
        seen = now
    }

    /// Adds the outcomes of a report. Expired and cancelled pushes are not counted. Negative counts count as 0.
    package mutating func add(delivered: Int, failed: Int) {
        var failures = Int(foreign: max(0, failed))
        var rest = Int(foreign: max(0, delivered)) + failures
        if rest > Self.window {
            // Of a long report, only as many results count as the guard considers, with the same share of failures.
            failures = Int(clamping: (Double(failures) / Double(rest) * Double(Self.window)).rounded())
            rest = Self.window
        }
        while rest > 0 {
            if groups.last.map({ $0.results == Self.groupSize }) ?? true { groups.append(Group()) }
            let index = groups.count - 1
            let taken = min(rest, Self.groupSize - groups[index].results)
            let takenFailures = failures * taken / rest
            groups[index].results += taken
            groups[index].failed += takenFailures
            rest -= taken
            failures -= takenFailures
        }
        var results = results
        while let oldest = groups.first, results - oldest.results >= Self.window {
            results -= oldest.results
            groups.removeFirst()
        }
    }

    /// Forgets all results, so that a campaign that an operator resumes is not stopped by old failures.
    package mutating func reset() { groups = [] }

    /// The share of failures in words: `312 of the last 1,000 pushes failed`.
    package var reason: String {
        "\(PlanText.number(failed)) of the last \(PlanText.pushes(results)) failed"
    }
}
