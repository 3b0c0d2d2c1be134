import PushModel
import RandomTesting
import Testing

struct CivilDateTests {
    /// Each row has a day number, and the date, the weekday (1 is Monday) and the ISO week of this day. The values come from
    /// Python's `datetime`.
    private static let known: [(Int64, String, Int, String)] = [
        (0, "1970-01-01", 4, "1970-W1"), (-1, "1969-12-31", 3, "1970-W1"), (59, "1970-03-01", 7, "1970-W9"),
        (-719_162, "0001-01-01", 1, "1-W1"), (11_016, "2000-02-29", 2, "2000-W9"),
        (12_784, "2005-01-01", 6, "2004-W53"), (14_610, "2010-01-01", 5, "2009-W53"),
        (14_245, "2009-01-01", 4, "2009-W1"), (18_627, "2020-12-31", 4, "2020-W53"),
        (20_783, "2026-11-26", 4, "2026-W48"), (47_540, "2100-02-28", 7, "2100-W8"),
        (2_932_896, "9999-12-31", 5, "9999-W52"),
    ]

    @Test(arguments: known) func `converts between day numbers and dates`(
        number: Int64, text: String, weekday: Int, week: String
    ) {
        let date = CivilDate(dayNumber: number)
        #expect(date.description == text)
        #expect(date.dayNumber == number)
        #expect(date.weekday == weekday)
        #expect("\(date.isoWeek.year)-W\(date.isoWeek.week)" == week)
    }

    @Test func `counts every day of eight centuries`() {
        var (year, month, day) = (Int64(1600), 1, 1)
        var number: Int64 = -135_140
        while year < 2400 {
            let date = CivilDate(dayNumber: number)
            guard date.year == year, date.month == month, date.day == day, date.dayNumber == number else {
                Issue.record("\(number): \(date), not \(year)-\(month)-\(day)")
                return
            }
            number += 1
            day += 1
            if day > CivilDate.length(ofMonth: month, in: year) { (month, day) = (month + 1, 1) }
            if month > 12 { (year, month) = (year + 1, 1) }
        }
    }

    @Test(
        arguments: [
            (2026, 2, 29), (2026, 2, 30), (2100, 2, 29), (2026, 4, 31), (2026, 0, 1), (2026, 13, 1),
            (2026, 1, 0),
            (2026, 1, 32), (Int64.max, 1, 1), (Int64.min, 1, 1), (2026, .max, 1), (2026, 1, .min),
        ] as [(Int64, Int, Int)])
    func `refuses days that do not exist`(year: Int64, month: Int, day: Int) {
        #expect(CivilDate(year: year, month: month, day: day) == nil)
    }

    @Test func `accepts any day number`() {
        var random = SplitMix(seed: 5)
        for _ in 0..<10_000 {
            let number = Int64(truncatingIfNeeded: random.next() >> (random.next() % 64))
            let date = CivilDate(dayNumber: number)
            let limited = min(max(number, -(1 << 40)), 1 << 40)
            guard date.dayNumber == limited, (1...7).contains(date.weekday),
                (1...53).contains(date.isoWeek.week),
                (1...366).contains(date.dayOfYear)
            else {
                Issue.record("\(number): \(date)")
                return
            }
        }
        #expect(CivilDate(dayNumber: .min) < CivilDate(dayNumber: .max))
    }
}
