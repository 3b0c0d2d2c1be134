/// Seven days of the attribute `seen`, from a Monday to a Sunday in UTC.
///
/// Devices that were last seen some weeks ago have one bitmap for each week in place of one for each day.
package struct SeenWeek: Hashable, Comparable, Sendable {
    private let number: Int

    /// The week that contains a day.
    ///
    /// - Parameter day: a number of days since 1970-01-01 UTC, which was a Thursday; at least 0.
    package init(of day: Int) { number = (max(0, day) + 3) / 7 }

    /// Reads the value of the attribute, such as `w2957`; nil for other texts.
    package init?(value: some StringProtocol) {
        guard value.utf8.first == UInt8(ascii: "w"), let number = Int(foreign: value.utf8.dropFirst()),
            (0...Self.largest).contains(number)
        else { return nil }
        self.number = number
    }

    private static let largest = 1 << 40

    /// The value of the attribute for the devices that were last seen in the week, such as `w2957`.
    package var value: String { "w\(number)" }

    /// The Monday of the week, as a number of days since 1970-01-01; at least 0.
    package var firstDay: Int { max(0, number * 7 - 3) }

    /// The Sunday of the week, as a number of days since 1970-01-01.
    package var lastDay: Int { number * 7 + 3 }

    package static func < (one: Self, other: Self) -> Bool { one.number < other.number }
}
