/// What happens to a push whose outcome is unknown, because a connection or a worker was lost.
package enum Delivery: UInt8, CaseIterable, Hashable, Sendable {
    /// It is sent again: a device may get it twice, and the job counts it as maybe duplicated.
    case atLeastOnce = 0
    /// It is not sent again: it fails with the reason `unknown`.
    case atMostOnce = 1

    /// The word in a job.
    package var name: String {
        switch self {
        case .atLeastOnce: "at-least-once"
        case .atMostOnce: "at-most-once"
        }
    }

    package init?(name: String) {
        guard let delivery = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = delivery
    }
}
