import StoreProtocol
import Testing

@testable import pushfarm

struct OutputTests {
    @Test(arguments: [
        (500.0, "500/s"), (1.5, "1.5/s"), (1.0, "1/s"), (0.5, "30/m"), (5.0 / 3600.0, "5/h"),
        (1e-5, "0.036/h"),
    ])
    func `rates have a suitable unit`(rate: Double, text: String) {
        #expect(Figures.perTime(rate) == text)
    }

    @Test(arguments: [
        (0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567"), (-1000, "-1,000"),
        (Int.min, "-9,223,372,036,854,775,808"),
    ])
    func `groups thousands`(number: Int, text: String) {
        #expect(Figures.grouped(number) == text)
    }

    @Test(arguments: [
        (Duration.milliseconds(950), "950 ms"), (.milliseconds(2567), "2.5 s"), (.seconds(59), "59 s"),
        (.seconds(200), "3 min 20 s"), (.seconds(7500), "2 h 5 min"), (.seconds(400_000), "4 days"),
    ])
    func `writes times in common units`(time: Duration, text: String) {
        #expect(Figures.time(time) == text)
    }

    @Test(arguments: [
        (Int64(0), "0 B"), (999, "999 B"), (1500, "1.5 kB"), (15_260_000, "15.2 MB"), (152_600_000, "152 MB"),
        (Int64.max, "9.2 EB"),
    ])
    func `writes bytes in units`(count: Int64, text: String) {
        #expect(Figures.bytes(count) == text)
    }

    @Test(arguments: [
        ("plain\ntext", "plain\ntext"), ("a\u{1B}[2Jb", "a?[2Jb"), ("a\rb\tc\u{7}", "a?b?c?"),
        ("\u{9B}2J\u{7F}", "?2J?"), ("\u{1B}[31mred\u{1B}[0m", "\u{1B}[31mred\u{1B}[0m"),
        ("\u{1B}[38;5;1mx", "?[38;5;1mx"), ("\u{1B}[123m", "?[123m"), ("\u{1B}[", "?["), ("\u{1B}", "?"),
        ("\u{1B}]0;title\u{7}", "?]0;title?"), ("\u{1B}\u{1B}[1m", "?\u{1B}[1m"),
    ])
    func `a terminal gets line feeds and colours and no other control character`(
        text: String, screened: String
    ) {
        #expect(PlainText.screened(text) == screened)
    }

    @Test func `a cell is one line for any text`() {
        var table = Table(["HOST": .left, "N": .right])
        table.add("a\u{1B}[2J\nb", "1")
        #expect(
            table.text(TextStyle(colours: true))
                == "\u{1B}[2mHOST\u{1B}[0m     \u{1B}[2mN\u{1B}[0m\na?[2J?b  1\n")
        #expect(JSONValue.string("\u{9B}\u{7F}\u{1B}").description == #""\u009b\u007f\u001b""#)
    }

    @Test func `a table has columns without blanks at line ends`() {
        var table = Table(["NAME": .left, "COUNT": .right, "NOTE": .left])
        table.add("a", "1")
        table.add("longer", "1,000", .init("bad", .red))
        #expect(
            table.text()
                == """
                NAME    COUNT  NOTE
                a           1
                longer  1,000  bad

                """)
        #expect(table.text(TextStyle(colours: true)).contains("\u{1B}[31mbad\u{1B}[0m"))
    }

    @Test func `a table continues its last column on the next lines`() {
        var table = Table(["ID": .left, "REASON": .left])
        table.add("1", .init("the job is not valid JSON: expected a value", .red))
        table.add("2", "short")
        #expect(table.text(TextStyle(columns: 47)) == table.text())
        #expect(
            table.text(TextStyle(columns: 30))
                == """
                ID  REASON
                1   the job is not valid JSON:
                    expected a value
                2   short

                """)
        // In a terminal that is too narrow, the last column still gets a width of 20 characters.
        #expect(
            table.text(TextStyle(columns: 5)).contains("1   the job is not valid\n    JSON: expected a\n"))
        #expect(Table(["A": .left]).text(TextStyle(columns: 1)) == "A\n")
    }

    @Test func `a table cuts columns of text and never numbers`() {
        var table = Table(["JOB": .left, "APP": .left, "OPEN": .right])
        table.add("autumn-sale-2026-11-26", "checkout", "1,234,567")
        #expect(
            table.text(TextStyle(columns: 30))
                == """
                JOB        APP            OPEN
                autumn-s…  checkout  1,234,567

                """)
        #expect(table.text(TextStyle(columns: 12)).contains("autum…  check…  1,234,567\n"))
    }

    @Test(arguments: [
        ("a bc def", 4, ["a bc", "def"]), ("abcdef gh", 3, ["abc", "def", "gh"]), ("", 5, [""]),
        ("one", 3, ["one"]), ("a  b", 4, ["a  b"]),
    ])
    func `text breaks at spaces and a long word breaks anywhere`(text: String, columns: Int, lines: [String])
    {
        #expect(PlainText.wrapped(text, to: columns) == lines)
    }

    @Test func `cut text has a mark`() {
        #expect(PlainText.of("abcdef", limit: 6) == "abcdef")
        #expect(PlainText.cut("abcd", to: 4) == "abcd" && PlainText.cut("abcd", to: 3) == "ab…")
        #expect(PlainText.cut("abcd", to: 1) == "…" && PlainText.cut("abcd", to: 0) == "")
        #expect(PlainText.of("abcdefg", limit: 6) == "abcde…")
        #expect(PlainText.of("a\u{1B}[2Jb", limit: 3) == "a?…" && PlainText.of("a", limit: 0) == "…")
    }

    @Test func `a paused app is not shown as full`() {
        #expect(FullReason.words("operator", "demo") == "an operator has closed demo to producers")
        for reason in ["inbox", "backlog", "memory", "Redis's memory is used up"] {
            #expect(FullReason.words(reason, "demo") == "the farm is full (\(reason))")
        }
    }

    @Test func `an unknown name gets the nearest name or all names`() {
        func words(_ name: String, _ known: [String]) -> String {
            CommandFailure.noApp(name, among: known).message
        }
        #expect(
            words("dmeo", ["demo", "shop"]) == #"there is no app "dmeo" in this farm; did you mean "demo"?"#)
        #expect(words("x", ["demo", "shop"]) == #"there is no app "x" in this farm; it has demo, shop"#)
        #expect(words("x", []) == #"there is no app "x" in this farm"#)
        let many = (1...30).map { "app-number-\($0)" }
        #expect(words("x", many).hasSuffix("app-number-20 and 10 more"))
    }

    @Test func `the missing object of a command is named in full`() {
        let noJob = "there is no job nosuch/0 in demo"
        #expect(
            UnknownName.subject("nosuch/0", apps: ["demo"], hosts: ["alpha"], noJob: noJob)
                == #"there is no app "nosuch/0", no living host nosuch, and there is no job nosuch/0 in demo"#
        )
        #expect(
            UnknownName.subject(
                "alpa", apps: ["demo"], hosts: ["alpha"], noJob: "there is no job alpa in demo")
                == #"there is no app "alpa", no living host alpa, and there is no job alpa in demo; did you mean "alpha"?"#
        )
        #expect(
            UnknownName.subject(
                "order-1", apps: ["demo"], hosts: nil, noJob: "there is no job order-1 in demo")
                == #"there is no app "order-1", and there is no job order-1 in demo"#)
    }

    @Test func `a payload that is not JSON gets the position of the fault`() throws {
        try PushCommand.check(payload: #"{"aps":{}}"#, of: nil)
        func words(_ payload: String, _ file: String? = nil) -> String? {
            #expect(throws: CommandFailure.self) { try PushCommand.check(payload: payload, of: file) }?
                .message
        }
        #expect(words(#"{"aps":"#) == "payload is not valid JSON: it ends too early, at byte 7")
        #expect(words("") == "payload is not valid JSON: there is nothing but white space, at byte 0")
        #expect(
            words(#"{"aps":{}},"ttl":5"#, "news.json")
                == "news.json: payload is not valid JSON: something follows after its end, at byte 10")
    }

    @Test func `json keeps the order of its fields and escapes text`() {
        let list: [JSONValue] = [.number(1 as Int64), .null, .bool(true), .decimal(0.5)]
        let value = JSONValue.object(["z": .string("a\"\\\n\u{1}ü"), "a": .array(list)])
        #expect(value.description == #"{"z":"a\"\\\n\u0001ü","a":[1,null,true,0.5]}"#)
    }

    @Test func `a progress line shows share, rate and remaining time`() {
        let start = ContinuousClock.now
        var line = ProgressLine("delivering", total: 1000, now: start, quiet: true)
        #expect(line.line(0, note: "", now: start) == "delivering  0 %  0 of 1,000")
        #expect(
            line.line(200, note: "x", now: start + .seconds(1))
                == "delivering  20 %  200 of 1,000  200/s  4.0 s left  x")
        #expect(
            line.line(1000, note: "", now: start + .seconds(2)).hasPrefix(
                "delivering  100 %  1,000 of 1,000  500/s"))
    }
}
