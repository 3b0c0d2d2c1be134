import Testing

@testable import Segments

struct SegmentParserTests {
    private static func tag(_ name: String) -> SegmentExpression { .term(.value(.tag, name)) }

    private static let readings: [(String, SegmentExpression)] = [
        ("all", .all),
        ("tag:sport", tag("sport")),
        (" tag : sport ", tag("sport")),
        ("!tag:a & tag:b | tag:c", .or([.and([.not(tag("a")), tag("b")]), tag("c")])),
        ("!(tag:a | tag:b)&tag:c", .and([.not(.or([tag("a"), tag("b")])), tag("c")])),
        ("!!tag:a", .not(.not(tag("a")))),
        ("zone:Europe/*", .term(.prefix(.zone, "Europe/"))),
        ("tag:*", .term(.prefix(.tag, ""))),
        ("app:2.4.1 & os:iOS-26", .and([.term(.value(.app, "2.4.1")), .term(.value(.os, "iOS-26"))])),
        ("tag:\"two words (a|b)\"", tag("two words (a|b)")),
        (#"tag:"a \" b \\ c""#, tag(#"a " b \ c"#)),
        ("tag:\"a\\\"\u{301} b\"", tag("a\"\u{301} b")),
        ("tag:\"two w\"*", .term(.prefix(.tag, "two w"))),
        ("lang:日本語", .term(.value(.lang, "日本語"))),
        ("seen<30d", .term(.seenWithin(days: 30))),
        ("seen < 3650d", .term(.seenWithin(days: 3650))),
        (
            "tag:sport & (lang:de | lang:at) & !tag:muted & seen<30d & zone:Europe/*",
            .and([
                tag("sport"), .or([.term(.value(.lang, "de")), .term(.value(.lang, "at"))]),
                .not(tag("muted")), .term(.seenWithin(days: 30)), .term(.prefix(.zone, "Europe/")),
            ])
        ),
    ]

    @Test(arguments: readings) func `an expression is read, and its text reads the same`(
        text: String, expression: SegmentExpression
    ) throws {
        #expect(try SegmentExpression(parsing: text) == expression)
        #expect(try SegmentExpression(parsing: expression.description) == expression)
    }

    private static let faults: [(String, Int, String)] = [
        ("", 0, "the segment ends where a condition is expected"),
        ("tag:a &", 7, "the segment ends where a condition is expected"),
        ("tag:a & & tag:b", 8, "expected a condition"),
        ("tag:a tag:b", 6, "expected \"&\" or \"|\" between two conditions"),
        ("(tag:a | tag:b", 0, "this \"(\" has no \")\" after it"),
        ("tag:a)", 5, "this \")\" has no \"(\" before it"),
        ("tag", 3, "expected \":\" and a value after \"tag\""),
        ("tag:", 4, "expected a value after \"tag:\""),
        ("tag:\"\"", 4, "expected a value after \"tag:\""),
        ("tag:\"a", 4, "this quotation mark has no closing quotation mark"),
        ("tag:\"a\\", 4, "this quotation mark has no closing quotation mark"),
        ("tags:a", 0, "there is no attribute \"tags\"; did you mean \"tag\"?"),
        (
            "colour:red", 0,
            "there is no attribute \"colour\"; use tag, platform, service, environment, zone, lang, app, os, model, reachability, network, seen, all"
        ),
        ("seen", 4, "expected \"<\" and a number of days after \"seen\", as in seen<30d"),
        ("seen<30", 5, "expected a number of days from 1d to 3650d"),
        ("seen<0d", 5, "expected a number of days from 1d to 3650d"),
        ("seen<99999999999999999999d", 5, "expected a number of days from 1d to 3650d"),
        ("tag:a ? tag:b", 6, "expected \"&\" or \"|\" between two conditions"),
    ]

    @Test(arguments: faults) func `an error names the place and the reason`(
        text: String, position: Int, reason: String
    ) {
        #expect(throws: SegmentError(position: position, reason: reason)) {
            try SegmentExpression(parsing: text)
        }
    }

    @Test func `length, depth and number of conditions are bounded`() throws {
        let most = Array(repeating: "tag:a", count: 64).joined(separator: "|")
        #expect(try SegmentExpression(parsing: most).terms == [.value(.tag, "a")])
        #expect(throws: SegmentError(position: 384, reason: "a segment has at most 64 conditions")) {
            try SegmentExpression(parsing: most + "|tag:a")
        }
        let deep = String(repeating: "(", count: 31) + "tag:a" + String(repeating: ")", count: 31)
        #expect(try SegmentExpression(parsing: deep) == Self.tag("a"))
        let reason = "more than 32 parentheses and \"!\" are inside each other"
        #expect(throws: SegmentError(position: 32, reason: reason)) {
            try SegmentExpression(parsing: "!" + "(" + deep + ")")
        }
        let long = "tag:" + String(repeating: "a", count: 4093)
        #expect(throws: SegmentError(position: 4096, reason: "a segment has at most 4096 bytes")) {
            try SegmentExpression(parsing: long)
        }
    }
}
