import Testing

@testable import pushfarm

struct TopScreenTests {
    private static let keys = [
        "", "2", "3", "4", "5", "5\r", "\r", "3\r", "2\r", "4\r", "?", "p", "s", "r", "ss", "4\r\u{1B}",
        "3\r\r",
    ]

    /// Models with half a minute of readings, by the number of alerts. Each test starts with a copy of one of these models.
    private static let models = [0: readings(alerts: 0), 9: readings(alerts: 9)]

    private static func readings(alerts: Int) -> TopModel {
        var model = TopModel()
        for second in 0..<30 {
            model.take(
                TopFarm.snapshot(
                    second, rate: second * 400, pausesShop: alerts > 0, alerts: alerts,
                    jobs: [
                        TopFarm.job("order-4711", accepted: 100_000, delivered: 2000 * second, failed: 30),
                        TopFarm.job("campaign", accepted: 2_000_000, delivered: 100 * second),
                    ]))
        }
        return model
    }

    private static func model(_ keys: String, alerts: Int = 0) -> TopModel {
        var model = models[alerts]!
        for key in TopKey.keys(in: Array(keys.utf8)) { _ = model.press(key, page: 10) }
        return model
    }

    @Test(arguments: keys, [(80, 24), (120, 40), (40, 8), (41, 9), (200, 60), (79, 23), (10, 3)])
    func `every screen fills its window exactly`(keys: String, size: (Int, Int)) {
        for alerts in [0, 9] {
            let screen = TopScreen(model: Self.model(keys, alerts: alerts), columns: size.0, rows: size.1)
            let lines = screen.lines
            #expect(lines.count == size.1)
            #expect(lines.allSatisfy { $0.width <= size.0 && $0.text.count == $0.width })
        }
    }

    @Test func `the screen says so before the first reading`() {
        let lines = TopScreen(model: TopModel(), columns: 80, rows: 24).lines
        #expect(lines.count == 24 && lines[2].text == "looking …")
    }

    @Test func `apps at 80 columns`() {
        let lines = TopScreen(model: Self.model(""), columns: 80, rows: 24).lines.map(\.text)
        #expect(
            lines[0].hasPrefix("pushfarm top  2 hosts  4 workers  2 apps") && lines[0].hasSuffix("● live"))
        #expect(
            lines[1].hasPrefix("11,600/s ") && lines[1].hasSuffix("errors 0.5 %  open 1.2M  oldest 12 min"))
        #expect(lines[2] == "Redis 7.0.15  512 MB of 2.0 GB  ██▌······· 25 %")
        #expect(lines[4] == "1 Apps  2 Workers  3 Hosts  4 Jobs  5 Campaigns  ")
        #expect(lines[5].hasPrefix("APP   STATE    RATE/S▼"))
        #expect(lines[6].hasPrefix("news  running") && lines[6].contains("1.2M"))
        #expect(lines[7].hasPrefix("shop  running"))
    }

    @Test func `campaigns at 80 columns`() {
        let lines = TopScreen(model: Self.model("5"), columns: 80, rows: 24).lines.map(\.text)
        let titles = lines[5].split(separator: " ")
        #expect(titles == ["CAMPAIGN", "STATE", "DONE", "RATE/S▼", "LEFT", "NEXT", "ROUND"])
        #expect(lines[6].hasPrefix("ed-2026-11-27  running  ██▉·······   29 %"), "\(lines[6])")
        #expect(lines[6].contains(" 400 ") && lines[6].contains("38 min"), "\(lines[6])")
        #expect(lines[7].hasPrefix("magazine       late") && lines[7].hasSuffix("2/4"), "\(lines[7])")
        let open = TopScreen(model: Self.model("5\r"), columns: 80, rows: 24).lines.map(\.text)
        #expect(open[4].hasSuffix("5 Campaigns  › ed-2026-11-27 "))
        #expect(open.contains { $0.hasPrefix("devices") && $0.hasSuffix("11,600 of 40,000 in this round") })
        #expect(open.contains { $0.hasPrefix("next") && $0.hasSuffix("in 59 min") }, "\(open)")
    }

    @Test func `problems come first and leave room for the rest`() {
        let lines = TopScreen(model: Self.model("", alerts: 9), columns: 80, rows: 24).lines.map(\.text)
        #expect(lines[3] == "! shop is paused: credentials: InvalidProviderToken")
        #expect(lines[5] == "! 8 more troubles: pushfarm status")
        #expect(lines[7].hasPrefix("1 Apps"))
    }

    @Test func `a line that is cut ends in an ellipsis`() {
        var model = Self.model("")
        model.lost(
            "nobody listens there, and this is a reason that is much longer than eighty columns are", at: 0)
        let lines = TopScreen(model: model, columns: 80, rows: 24).lines.map(\.text)
        #expect(lines[3].hasPrefix("! Redis: nobody listens") && lines[3].hasSuffix("…"), "\(lines[3])")
        #expect(lines[3].count == 80)
        #expect(TopLine("abc").cut(to: 0).text == "" && TopLine("abc").cut(to: 3).text == "abc")
        #expect(TopLine("abcd", .red).cut(to: 3).pieces.map(\.paint) == [.red, .red])
    }

    @Test func `an outage of Redis is shown and old values stay`() {
        var model = Self.model("")
        model.lost("redis://h: refused", at: TopFarm.start)
        let lines = TopScreen(model: model, columns: 80, rows: 24).lines.map(\.text)
        #expect(lines[0].hasSuffix("Redis away since 08:00:00"))
        #expect(lines[3] == "! Redis: redis://h: refused")
        #expect(lines.contains { $0.hasPrefix("news") })
    }

    @Test func `columns that do not fit are dropped and the least important first`() {
        func titles(_ columns: Int) -> [Substring] {
            TopScreen(model: Self.model(""), columns: columns, rows: 24).lines[5].text.split(separator: " ")
        }
        #expect(titles(160).contains("CONNS") && titles(160).contains("P50"))
        #expect(!titles(80).contains("CONNS"))
        for width in stride(from: 160, through: 60, by: -4) {
            #expect(titles(width).starts(with: ["APP", "STATE", "RATE/S▼"]))
        }
    }

    @Test func `a process has its process id for kill`() throws {
        let lines = TopScreen(model: Self.model("2"), columns: 160, rows: 24).lines.map(\.text)
        #expect(lines[5].hasSuffix("PID"))
        let pids = lines[6...9].compactMap { $0.split(separator: " ").last }
        #expect(pids.sorted() == ["4000", "4001", "4010", "4011"])
    }

    @Test func `the selected row is always on the screen`() {
        var model = TopModel()
        model.take(TopFarm.snapshot(0, hosts: (0..<50).map { "host\($0)" }))
        _ = model.press(.character("3"), page: 10)
        for _ in 0..<60 {
            let screen = TopScreen(model: model, columns: 80, rows: 24)
            #expect(screen.lines.count { $0.isSelected } == 1)
            _ = model.press(.down, page: screen.page)
        }
        #expect(model.selected == .host("host9"))
    }

    @Test func `a name with control characters does not affect the terminal`() {
        let line = TopLine("a\u{1B}[2Jb\u{7}\u{9B}c\nü")
        #expect(line.text == "a?[2Jb??c?ü")
    }

    @Test(
        arguments: [
            ([], "        "), ([0, 0], "      ▁▁"), ([1, 2, 4, 8], "    ▂▃▅█"), ([5, 5, 5], "     ███"),
            ([9, 1, 1, 1, 1, 1, 1, 1, 8], "▂▂▂▂▂▂▂█"),
        ] as [([Double], String)])
    func `a sparkline is scaled to its highest value`(values: [Double], text: String) {
        #expect(TopHistory.sparkline(values, width: 8) == text)
    }

    @Test(arguments: [
        (0.0, "····"), (0.5, "██··"), (1, "████"), (0.03, "▏···"), (0.02, "▏···"), (0.01, "····"),
        (0.35, "█▍··"), (9, "████"),
    ])
    func `a bar shows a share`(share: Double, text: String) {
        #expect(TopHistory.bar(share, width: 4) == text)
    }
}
