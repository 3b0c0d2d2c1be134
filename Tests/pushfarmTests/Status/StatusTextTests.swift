import Testing

@testable import pushfarm

/// Checks the status text for operators.
struct StatusTextTests {
    private static func text(_ snapshot: TopModel.Snapshot) -> [String] {
        StatusText(status: snapshot.status, style: TextStyle()).text.split(
            separator: "\n", omittingEmptySubsequences: false
        )
        .map(String.init)
    }

    @Test func `problems come first`() {
        let lines = Self.text(TopFarm.snapshot(pausesShop: true, alerts: 2))
        #expect(lines[0] == "3 troubles  2 hosts  12,000/s  1,204,431 open")
        #expect(lines[1] == "! shop is paused: credentials: InvalidProviderToken")
        #expect(lines[2] == "! a0: the oldest push has waited 7 min")
        #expect(lines[4].isEmpty && lines[5].hasPrefix("alpha  running  coordinator 3000  up 2 h"))
        #expect(Self.text(TopFarm.snapshot())[0] == "all is well  2 hosts  12,000/s  1,204,431 open")
    }

    @Test func `workers and apps fit into eighty columns`() {
        let lines = Self.text(TopFarm.snapshot(pausesShop: true, alerts: 2))
        for line in lines { #expect(line.count <= 80, "\(line.count): \(line)") }
        #expect(
            lines.contains(
                "#   PID  STATE  SHARDS  STREAMS  RATE/S  FAILED   MEMORY   UP  RESTARTS"))
        #expect(
            lines.contains(
                "1  4001  ready      16      901   3,000     120  15.2 MB  2 h         1"))
        #expect(lines.contains { $0.hasPrefix("news  running   12.0k  1.2M  4,002        7     3") })
    }

    @Test func `the last alerts show their time and whether they cleared`() {
        var snapshot = TopFarm.snapshot(3600)
        snapshot.status.latest = [
            AlertEntry([
                "type": "alert.cleared", "at": "\(TopFarm.start + 3_540_000)", "alert": "app_paused",
                "app": "shop",
                "text": "shop is paused: x",
            ]),
            AlertEntry([
                "type": "alert.fired", "at": "\(TopFarm.start)", "alert": "redis_full",
                "text": "Redis is full",
            ]),
        ]
        let lines = Self.text(snapshot)
        #expect(lines.contains("   60 s ago  cleared  shop is paused: x"))
        #expect(lines.contains(" 60 min ago  fires    Redis is full"))
    }

    @Test(arguments: [
        (0, "0"), (9999, "9,999"), (10_000, "10.0k"), (99_949, "99.9k"), (99_950, "100k"), (999_499, "999k"),
        (999_500, "1.0M"), (1_204_311, "1.2M"), (2_000_000_000, "2.0G"),
    ])
    func `numbers take six columns at most`(value: Int, text: String) {
        #expect(Figures.short(value) == text && text.count <= 6)
    }

    @Test(arguments: [
        (0, "0 s"), (99, "99 s"), (100, "1 min"), (5999, "99 min"), (6000, "1 h"), (172_799, "47 h"),
        (172_800, "2 d"),
    ])
    func `times take few columns`(seconds: Int, text: String) {
        #expect(Figures.brief(.seconds(seconds)) == text)
    }
}
