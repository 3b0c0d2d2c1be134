import Testing

@testable import Campaigns

struct CampaignTimesTests {
    @Test func `the fields of a record become spans in order of time`() {
        let times = CampaignTimes(fields: [
            ("done_at:1200", "3"), ("sent_at:600", "10"), ("sent_at:1200", "5"), ("accepted:1", "15"),
            ("sent_at:x", "1"),
            ("sent_at:1800", "many"), ("sent_at", "4"), ("done_at:60:0", "2"),
            ("done_at:9999999999999999999", "1"),
        ])
        #expect(times.spans == [.init(start: 600, sent: 10, done: 0), .init(start: 1200, sent: 5, done: 3)])
    }

    @Test(arguments: [1, 2, 3, 4, 5, 40])
    func `spans are joined to a number of rows`(most: Int) {
        let times = CampaignTimes(fields: (1...4).map { ("sent_at:\($0 * 600)", "\($0)") })
        let joined = times.joined(to: most)
        #expect(joined.count <= most && joined.reduce(0) { $0 + $1.sent } == 10)
        #expect(joined.first?.start == 600)
    }

    @Test func `the joined spans keep what was sent and done`() {
        let times = CampaignTimes(
            fields: (1...5).flatMap {
                [("sent_at:\($0 * 600)", "\($0)"), ("done_at:\($0 * 600)", "1")]
            })
        #expect(
            times.joined(to: 2) == [
                .init(start: 600, sent: 6, done: 3), .init(start: 2400, sent: 9, done: 2),
            ])
    }
}
