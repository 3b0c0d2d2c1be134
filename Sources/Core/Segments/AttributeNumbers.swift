/// The attribute names of one partition, such as `tag:sport`, with their numbers.
///
/// Bitmaps are stored by number. A number is valid only in its partition: another partition may use it for another name.
package struct AttributeNumbers: Sendable {
    /// The name of the bitmap with all devices that can get pushes.
    package static let alive = "alive"
    /// The attribute with one value for each day, which is the number of days since 1970-01-01 UTC, and with one value for each
    /// ``SeenWeek`` before these days.
    package static let seen = "seen"

    /// The number of the bitmap `alive`; nil if the partition has no devices.
    package let alive: Int?
    /// The values of each attribute, with their numbers.
    private let values: [String: [String: Int]]
    private let firstDay: Int

    /// - Parameters:
    ///   - names: the partition's names, each as `attribute:value` or `alive`. Other names are ignored.
    ///   - firstDay: the first day of `seen` that has its own bitmap, as a number of days since 1970-01-01 UTC. Earlier days are
    ///     in the bitmaps of their weeks.
    package init(_ names: [String: Int], daysFrom firstDay: Int = 0) {
        self.firstDay = firstDay
        var values: [String: [String: Int]] = [:]
        for (name, number) in names {
            // Compare bytes, not characters: Unicode may combine the colon with the next character.
            guard let colon = name.utf8.firstIndex(of: UInt8(ascii: ":")) else { continue }
            let value = String(decoding: name.utf8[colon...].dropFirst(), as: UTF8.self)
            values[String(decoding: name.utf8[..<colon], as: UTF8.self), default: [:]][value] = number
        }
        self.values = values
        alive = names[Self.alive]
    }

    /// The numbers of the bitmaps whose union is the set of devices with the term, in ascending order; empty if no device has the
    /// term.
    ///
    /// A week's bitmap is one of these bitmaps if at least one day of the week matches. So if the days of the term reach back to a
    /// week, the term is true for all devices that were last seen in the week.
    ///
    /// - Parameter today: the number of days since 1970-01-01 UTC. A device that was last seen on a later day counts as
    ///   seen today.
    package func numbers(of term: SegmentTerm, today: Int) -> [Int] {
        switch term {
        case .value(let attribute, let value):
            return values[attribute.rawValue]?[value].map { [$0] } ?? []
        case .prefix(let attribute, let start):
            return numbers(of: attribute.rawValue) { $0.utf8.starts(with: start.utf8) }
        case .seenWithin(let days):
            return numbers(of: Self.seen) { value in
                if let week = SeenWeek(value: value) { return week.lastDay > today - days }
                return Int(foreign: value).map { $0 > today - days && $0 >= firstDay } ?? false
            }
        }
    }

    private func numbers(of attribute: String, where isWanted: (String) -> Bool) -> [Int] {
        (values[attribute] ?? [:]).filter { isWanted($0.key) }.map(\.value).sorted()
    }
}
