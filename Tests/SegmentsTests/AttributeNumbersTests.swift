import Segments
import Testing

struct AttributeNumbersTests {
    private static let today = 20_000
    private static let numbers = AttributeNumbers([
        "alive": 0, "tag:sport": 1, "tag:sports": 2, "tag:a:b": 3, "tag:": 4, "lang:sport": 5,
        "zone:Europe/Berlin": 6, "zone:Europe/Paris": 7, "zone:Asia/Tokyo": 8, "tag:café": 9,
        "seen:20000": 10, "seen:19999": 11, "seen:19971": 12, "seen:19970": 13, "seen:20001": 14,
        "seen:x": 15, "seen:99999999999999999999": 16, "model:iPhone17,1": 17, "zone": 18,
        "tag:\u{301}x": 19,
    ])

    private static let terms: [(SegmentTerm, [Int])] = [
        (.value(.tag, "sport"), [1]),
        (.value(.tag, "spor"), []),
        (.value(.tag, "a:b"), [3]),
        (.value(.zone, "sport"), []),
        (.value(.model, "iPhone17,1"), [17]),
        (.prefix(.tag, "sport"), [1, 2]),
        (.prefix(.tag, ""), [1, 2, 3, 4, 9, 19]),
        (.value(.tag, "\u{301}x"), [19]),
        (.prefix(.tag, "caf"), [9]),
        (.prefix(.zone, "Europe/"), [6, 7]),
        (.prefix(.zone, "Africa/"), []),
        (.prefix(.os, ""), []),
        (.seenWithin(days: 1), [10, 14]),
        (.seenWithin(days: 2), [10, 11, 14]),
        (.seenWithin(days: 29), [10, 11, 14]),
        (.seenWithin(days: 30), [10, 11, 12, 14]),
        (.seenWithin(days: 31), [10, 11, 12, 13, 14]),
    ]

    @Test(arguments: terms) func `a term names the bitmaps of its values`(term: SegmentTerm, wanted: [Int]) {
        #expect(Self.numbers.numbers(of: term, today: Self.today) == wanted)
    }

    @Test func `days before the first day count in their weeks`() {
        let numbers = AttributeNumbers(
            [
                "seen:20000": 1, "seen:19970": 2, "seen:19969": 3, "seen:w2852": 4, "seen:w2851": 5,
                "seen:wx": 6,
            ],
            daysFrom: 19_970)
        // Week 2852 ends with day 19,967, and week 2851 ends with day 19,960.
        let cases = [
            (1, [1]), (31, [1, 2]), (33, [1, 2]), (34, [1, 2, 4]), (40, [1, 2, 4]), (41, [1, 2, 4, 5]),
        ]
        for (days, wanted) in cases {
            #expect(numbers.numbers(of: .seenWithin(days: days), today: 20_000) == wanted, "\(days)")
        }
    }

    @Test func `a partition without devices has no bitmap of them`() {
        #expect(Self.numbers.alive == 0)
        #expect(AttributeNumbers(["tag:a": 1]).alive == nil)
    }
}
