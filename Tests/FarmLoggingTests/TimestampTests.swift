import Foundation
import Testing

@testable import FarmLogging

struct TimestampTests {
    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (1_772_323_199_999, "2026-02-28T23:59:59.999Z"), (-1, "1969-12-31T23:59:59.999Z"),
        (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
    ])
    func `writes UTC with milliseconds`(milliseconds: Int64, text: String) {
        #expect(Timestamp(milliseconds: milliseconds).description == text)
    }

    @Test func `agrees with Foundation over four centuries`() {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        for step in 0..<5_000 {
            let milliseconds = Int64(step) * 2_524_608_123
            let date = Date(timeIntervalSince1970: Double(milliseconds / 1000))
            let expected = date.formatted(style).prefix(19)
            #expect(Timestamp(milliseconds: milliseconds).description.prefix(19) == expected)
        }
    }
}
