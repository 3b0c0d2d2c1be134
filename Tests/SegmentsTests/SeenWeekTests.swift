import Segments
import Testing

struct SeenWeekTests {
    @Test func `a week has seven days from a Monday on`() {
        // 2026-11-23 is a Monday, and day 20,780 since 1970-01-01.
        let week = SeenWeek(of: 20_780)
        #expect(week.firstDay == 20_780 && week.lastDay == 20_786)
        for day in 20_780...20_786 { #expect(SeenWeek(of: day) == week) }
        #expect(SeenWeek(of: 20_779) < week && week < SeenWeek(of: 20_787))
        #expect(SeenWeek(of: 0).firstDay == 0 && SeenWeek(of: 0).lastDay == 3)
        #expect(SeenWeek(of: 4).firstDay == 4)
    }

    @Test func `the value of a week is read back`() {
        for day in [0, 3, 4, 20_786, 1 << 30] {
            #expect(SeenWeek(value: SeenWeek(of: day).value) == SeenWeek(of: day))
        }
        for text in ["", "w", "20786", "w-1", "wx", "w99999999999999999999", "W2969"] {
            #expect(SeenWeek(value: text) == nil, "\(text)")
        }
    }
}
