/// The two ways through a shard: what waits in `high` goes before what waits in `bulk`.
package enum Lane: UInt8, CaseIterable, Hashable, Sendable {
    case high = 0
    case bulk = 1

    /// The word in a job: `high` or `bulk`.
    package var name: String {
        switch self {
        case .high: "high"
        case .bulk: "bulk"
        }
    }

    /// The letter in a batch id: `h` or `b`.
    package var letter: UInt8 {
        switch self {
        case .high: UInt8(ascii: "h")
        case .bulk: UInt8(ascii: "b")
        }
    }

    package init?(name: String) {
        guard let lane = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = lane
    }

    package init?(letter: UInt8) {
        guard let lane = Self.allCases.first(where: { $0.letter == letter }) else { return nil }
        self = lane
    }
}
