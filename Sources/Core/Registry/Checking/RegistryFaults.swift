/// The faults that a check of a registry has found, as texts.
///
/// Damage of one key can cause millions of faults. So only the first faults of each kind are kept, and the others are counted.
package struct RegistryFaults: Sendable {
    package enum Kind: Int, CaseIterable, Sendable {
        case unreadable, twice, missingEntry, extraEntry, wrongBits, wrongCount

        /// The words for further faults of this kind.
        fileprivate var plural: String {
            switch self {
            case .unreadable: "keys or records that cannot be read"
            case .twice: "ids or tokens of two devices"
            case .missingEntry: "missing index entries"
            case .extraEntry: "index entries without a device"
            case .wrongBits: "wrong bitmaps"
            case .wrongCount: "wrong counts"
            }
        }
    }

    /// The number of faults of one kind that are kept.
    package static let mostKept = 20

    private var kept: [Kind: [String]] = [:]
    private var counts: [Kind: Int] = [:]

    package init() {}

    mutating func add(_ kind: Kind, _ text: @autoclosure () -> String) {
        counts[kind, default: 0] += 1
        if counts[kind, default: 0] <= Self.mostKept { kept[kind, default: []].append(text()) }
    }

    /// The kept faults, and how many further faults of each kind there are.
    package var texts: [String] {
        Kind.allCases.flatMap { kind in
            let rest = counts[kind, default: 0] - kept[kind, default: []].count
            return kept[kind, default: []] + (rest > 0 ? ["\(rest) further \(kind.plural)"] : [])
        }
    }
}
