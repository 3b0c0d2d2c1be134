import Testing

@testable import PushModel

struct JSONScannerTests {
    /// Runs `body` on a scanner over `text`.
    static func scan<T>(_ text: String, _ body: (inout JSONScanner) throws -> T) rethrows -> T {
        try Array(text.utf8).withUnsafeBytes {
            var scanner = JSONScanner($0)
            return try body(&scanner)
        }
    }

    @Test func `walks objects and arrays and returns exact ranges`() throws {
        let text = "  {\"a\" :  { \"x\" : [ ] } ,\"b\":[ 1 ,\t\"two\" , [3] ]}  "
        let found = try Self.scan(text) { scanner in
            var found: [String] = []
            func slice(_ range: Range<Int>) -> String {
                String(decoding: Array(text.utf8)[range], as: UTF8.self)
            }
            try scanner.start()
            try scanner.enterObject()
            while let key = try scanner.nextKey() {
                if scanner.matches(key, "b") {
                    try scanner.enterArray()
                    while try scanner.nextElement() { try found.append(slice(scanner.skipValue())) }
                } else {
                    try found.append(scanner.text(key) + "=" + slice(scanner.skipValue()))
                }
            }
            try scanner.end()
            #expect(scanner.depth == 0)
            return found
        }
        #expect(found == ["a={ \"x\" : [ ] }", "1", "\"two\"", "[3]"])
    }

    @Test func `walks empty objects and arrays`() throws {
        try Self.scan("[{},[]]") { scanner in
            try scanner.start()
            try scanner.enterArray()
            #expect(try scanner.nextElement())
            try scanner.enterObject()
            #expect(try scanner.nextKey() == nil)
            #expect(try scanner.nextElement())
            try scanner.enterArray()
            #expect(try !scanner.nextElement())
            #expect(try !scanner.nextElement())
            try scanner.end()
        }
    }

    @Test(arguments: ["[1,]", "[,1]", "[1 2]", "[", "[1", "[1,"]) func `a walk finds the same faults`(
        text: String
    ) {
        #expect(throws: JSONError.self) {
            try Self.scan(text) { scanner in
                try scanner.start()
                try scanner.enterArray()
                while try scanner.nextElement() { _ = try scanner.skipValue() }
                try scanner.end()
            }
        }
    }

    @Test(arguments: [
        "{\"a\":1,}", "{,}", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "{a:1}", "{", "{\"a\":1", "{\"a\":1,",
    ])
    func `a walk over members finds the same faults`(text: String) {
        #expect(throws: JSONError.self) {
            try Self.scan(text) { scanner in
                try scanner.start()
                try scanner.enterObject()
                while try scanner.nextKey() != nil { _ = try scanner.skipValue() }
                try scanner.end()
            }
        }
    }

    @Test func `counts the levels that a walk entered`() {
        let text = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        func depth(_ text: String, walked: Int) -> Bool {
            Self.scan(text) { scanner in
                do {
                    for _ in 0..<walked {
                        try scanner.enterArray()
                        _ = try scanner.nextElement()
                    }
                    _ = try scanner.skipValue()
                    return true
                } catch { return false }
            }
        }
        for walked in [0, 1, 30, 63] {
            #expect(depth(text, walked: walked))
            #expect(!depth("[" + text + "]", walked: walked))
        }
    }

    @Test(arguments: [
        ("0", Int64(0)), ("-0", 0), ("42", 42), ("-42", -42), ("9223372036854775807", .max),
        ("-9223372036854775808", .min),
    ])
    func `reads whole numbers`(text: String, value: Int64) throws {
        #expect(try Self.scan(text) { try $0.integer() } == value)
    }

    @Test(arguments: [
        "1.0", "1e3", "0.5", "9223372036854775808", "-9223372036854775809", "99999999999999999999", "\"1\"",
        "null", "[1]",
    ])
    func `refuses numbers that are not whole`(text: String) {
        #expect(throws: JSONError(fault: .expected(.integer), position: 0)) {
            try Self.scan(text) { try $0.integer() }
        }
    }

    @Test(arguments: [
        (#""""#, ""), (#""plain""#, "plain"), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"),
        (#""\u0041b\u00e9""#, "Abé"),
        (#""\ud83d\ude00!""#, "😀!"), (#""x\uD800\uDC00\uDBFF\uDFFF""#, "x\u{10000}\u{10FFFF}"),
        (#""é\\u0041""#, "é\\u0041"),
        (#""\u0000""#, "\0"),
    ])
    func `returns the text of strings`(text: String, value: String) throws {
        try Self.scan(text) { scanner in
            let string = try scanner.string()
            #expect(scanner.text(string) == value)
            #expect(string.hasEscapes == text.contains("\\"))
        }
    }

    @Test func `compares names with and without escapes`() throws {
        for (text, isEqual) in [
            ("\"payload\"", true), (#""\u0070ayload""#, true), (#""payloa\u0064""#, true),
            ("\"payloax\"", false),
            ("\"payloa\"", false), (#""payload\n""#, false), ("\"\"", false),
        ] {
            try Self.scan(text) { scanner in
                let name = try scanner.string()
                #expect(scanner.matches(name, "payload") == isEqual, "\(text)")
            }
        }
    }

    @Test(arguments: [
        ("{}", JSONKind.object), ("[]", .array), ("\"\"", .string), ("-1", .number), ("7", .number),
        ("true", .boolean),
        ("false", .boolean), ("null", .null),
    ])
    func `recognises the kind of a value`(text: String, kind: JSONKind) throws {
        #expect(try Self.scan(" " + text) { try $0.kind() } == kind)
    }
}
