/// Which tokens a producer hears about, one event each; the counts of its job it always gets.
package enum Receipts: UInt8, CaseIterable, Hashable, Sendable {
    case failures = 0
    case all = 1
    case none = 2

    /// The word in a job.
    package var name: String {
        switch self {
        case .failures: "failures"
        case .all: "all"
        case .none: "none"
        }
    }

    package init?(name: String) {
        guard let receipts = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = receipts
    }
}
