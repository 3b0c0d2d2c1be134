import PushModel

/// The greatest number of pushes that a device gets in a calendar hour, day or week.
package struct Cap: Hashable, Sendable {
    /// The values of ``pushes``.
    package static let range = 1...15

    package let pushes: Int
    package let period: CapPeriod

    package init(pushes: Int, period: CapPeriod) throws(ScheduleError) {
        guard Self.range.contains(pushes) else {
            throw ScheduleError(
                field: .caps,
                reason: "pushes must be from \(Self.range.lowerBound) to \(Self.range.upperBound)")
        }
        (self.pushes, self.period) = (pushes, period)
    }
}

/// Which counters a push of a campaign needs: one for each capped period of the campaign's category.
package struct CapRules: Hashable, Sendable {
    /// The category of the counters of background pushes. Campaigns cannot use this name.
    package static let backgroundCategory = "@background"
    /// The category of campaigns that name no category.
    package static let commonCategory = "@common"

    /// The campaigns of one category share counters.
    package let category: String
    /// The cap of each counted period; nil if the period is only counted.
    private let caps: [CapPeriod: Int?]

    /// - Parameters:
    ///   - category: 1 to 64 letters, digits, dots, hyphens and underscores of ASCII; nil for ``commonCategory``.
    ///   - caps: the campaign's own caps; at most one for each period.
    ///   - counted: periods that other campaigns of the category cap. The campaign's pushes count in these periods too,
    ///     because the caps of those campaigns limit all pushes of the category together.
    package init(
        category: String?, caps: [Cap], counted: some Sequence<CapPeriod> = []
    ) throws(ScheduleError) {
        guard category.map(Self.isName) ?? true else {
            throw ScheduleError(
                field: .category,
                reason: "1 to 64 letters, digits, dots, hyphens and underscores are needed")
        }
        var byPeriod = Dictionary(counted.map { ($0, Int?.none) }) { first, _ in first }
        for cap in caps {
            guard (byPeriod[cap.period] ?? nil) == nil else {
                throw ScheduleError(field: .caps, reason: "two caps are for the same \(cap.period.rawValue)")
            }
            byPeriod[cap.period] = cap.pushes
        }
        (self.category, self.caps) = (category ?? Self.commonCategory, byPeriod)
    }

    /// Returns the rules that limit the background pushes of a device to `pushes` an hour.
    /// - Parameter pushes: limited to the range of caps.
    package static func background(pushes: Int) -> CapRules {
        CapRules(hourly: min(max(Cap.range.lowerBound, pushes), Cap.range.upperBound))
    }

    private init(hourly pushes: Int) { (category, caps) = (Self.backgroundCategory, [.hour: pushes]) }

    private static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text.utf8.allSatisfy(isNameByte)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// Whether pushes need no counter.
    package var isEmpty: Bool { caps.isEmpty }

    /// Returns the counters of a push that is accepted at a time, for devices in a zone; the shortest period is first.
    package func counters(at time: UTCTime, in zone: TimeZoneRules) -> [CapCounter] {
        CapPeriod.allCases.compactMap { period in
            guard let cap = caps[period] else { return nil }
            return CapCounter(
                category: category, period: period, cap: cap, bucket: period.bucket(at: time, in: zone))
        }
    }
}

/// A counter of the pushes that devices got in one hour, day or week.
///
/// Devices of several zones share a counter, so its name and its expiry depend on the time, but not on the zone.
package struct CapCounter: Hashable, Sendable {
    /// How many milliseconds after the start of its hour a counter expires. This is more than an hour, because in a
    /// zone whose clocks are set back, an hour can have more than 60 minutes.
    private static let hourLife: Int64 = 4 * 3_600_000

    package let category: String
    package let period: CapPeriod
    /// For an hour, its first second since 1970 in UTC. For a day or a week, the number of ``CapPeriod/Bucket/number``.
    ///
    /// Zones that differ by whole hours share the counters of hours. A device that changes its zone keeps the count of the
    /// present hour.
    package let number: Int64
    /// The cap; nil if pushes are only counted.
    package let cap: Int?
    /// The time at which the counter is no longer needed in any zone.
    package let expiresAt: UTCTime

    init(category: String, period: CapPeriod, cap: Int?, bucket: CapPeriod.Bucket) {
        (self.category, self.period, self.cap) = (category, period, cap)
        switch period {
        case .hour:
            number = bucket.start.seconds
            expiresAt = max(bucket.end, bucket.start.adding(milliseconds: Self.hourLife))
        case .day, .week:
            number = bucket.number
            expiresAt = period.latestEnd(of: bucket.number)
        }
        name = "\(category):\(period.rawValue):\(number)"
    }

    /// The counter's part of a key: category, period and number, such as `news:day:20783`.
    package let name: String

    /// The key of the counts of a chunk, without the prefix of the app's keys.
    package func key(partition: Int, chunk: Int) -> String {
        "caps:\(name):\(partition < 10 ? "0" : "")\(partition):\(chunk)"
    }
}
