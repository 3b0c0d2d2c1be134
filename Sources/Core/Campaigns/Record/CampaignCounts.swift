/// Counts of a campaign's devices, by round. The record has each count as a number that steps only add to.
///
/// When a round is over, its audience is accepted + merged + capped + excluded + unsendable. Before, the devices of the
/// audience that are in none of the five are still to be sent to.
package struct CampaignCounts: Hashable, Sendable {
    /// A count; the raw value is the field of the record. The round's number follows after a colon, as in `accepted:2`.
    package enum Kind: String, CaseIterable, Sendable {
        /// Devices that the round is for.
        case audience
        /// Pushes that were accepted, one for each device.
        case accepted
        /// Devices whose push is that of another campaign of the merge group, with the content of this campaign.
        case merged
        /// Devices that got no push because of a cap.
        case capped
        /// Devices that got no push because they left the audience, were done, or had no more time in their window.
        case excluded
        /// Devices for which no push could be made, for example because the payload with their values was too large.
        case unsendable
        /// Those of ``excluded`` that no step handled, so that they have no bit in the campaign's bitmaps.
        case unhandled

        /// The results of a round: each device of its audience is in one of these counts at the end of the round.
        package static let results = [accepted, merged, capped, excluded, unsendable]

        /// The field of the record with the count of one round.
        package func field(ofRound round: Int) -> String { "\(rawValue):\(round)" }
    }

    private struct Key: Hashable, Comparable {
        let round: Int
        let kind: Kind

        static func < (one: Self, other: Self) -> Bool {
            (one.round, one.kind.rawValue) < (other.round, other.kind.rawValue)
        }
    }

    private var values: [Key: Int] = [:]

    package init() {}

    /// The count of a round, 1 or more.
    package subscript(kind: Kind, round: Int) -> Int {
        get { values[Key(round: round, kind: kind)] ?? 0 }
        set { values[Key(round: round, kind: kind)] = newValue == 0 ? nil : newValue }
    }

    /// Adds other counts.
    mutating func add(_ other: CampaignCounts) {
        for (key, value) in other.values { values[key] = (values[key] ?? 0).adding(saturating: value) }
    }

    /// The devices of a round that are in one of the counts ``Kind/results``.
    package func handled(ofRound round: Int) -> Int {
        Kind.results.reduce(0) { $0.adding(saturating: self[$1, round]) }
    }

    /// The devices of a round that have a bit in the campaign's bitmaps.
    package func marked(ofRound round: Int) -> Int { handled(ofRound: round) - self[.unhandled, round] }

    /// The sum over all rounds.
    package func total(_ kind: Kind) -> Int {
        values.reduce(0) { $0.adding(saturating: $1.key.kind == kind ? $1.value : 0) }
    }

    /// The largest round that has a count; 0 if there is none.
    package var rounds: Int { values.keys.map(\.round).max() ?? 0 }

    package var isEmpty: Bool { values.isEmpty }

    /// The fields of the record with the numbers to add to them, in order of round and name.
    package var additions: [(field: String, number: Int)] {
        values.sorted { $0.key < $1.key }.map { ($0.key.kind.field(ofRound: $0.key.round), $0.value) }
    }

    /// Reads the counts of a record. Fields that are no counts are left out, and so are values that are no numbers.
    package init(fields: some Sequence<(String, String)>) {
        for (name, value) in fields {
            let parts = name.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, let kind = Kind(rawValue: String(parts[0])),
                let round = Int(foreign: parts[1]),
                round > 0, let number = Int(foreign: value)
            else { continue }
            self[kind, round] = number
        }
    }
}
