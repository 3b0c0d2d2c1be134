import Testing

@testable import PushModel

/// Parses valid and invalid JSON texts that are similar to those of public test suites.
struct JSONConformanceTests {
    static func accepts(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { (try? JSONScanner.validate($0)) != nil }
    }

    /// Checks each value alone, as an element of an array, and as a member of an object.
    static func check(_ values: [String], isJSON: Bool) {
        for value in values {
            for text in [
                value, "[\(value)]", " [ 1 , \(value) ]", "{\"k\":\(value)}", "{\"a\":0,\"k\":\t\(value)\n}",
            ] {
                #expect(accepts(Array(text.utf8)) == isJSON, "\(text.debugDescription)")
            }
        }
    }

    @Test func `accepts every form of number`() {
        let integers = [
            "0", "-0", "1", "-1", "10", "123456789", "9223372036854775808", "-12", "100000000000000000000",
        ]
        let fractions = ["", ".0", ".5", ".00", ".123456789012345678901234567890"]
        let exponents = ["", "e0", "E0", "e1", "E+1", "e-1", "E-07", "e+00", "e400", "e-400", "E999999"]
        for integer in integers {
            for fraction in fractions { Self.check(exponents.map { integer + fraction + $0 }, isJSON: true) }
        }
    }

    @Test func `refuses every other number`() {
        Self.check(
            [
                "-", "+1", "+0", "--1", "-+1", "- 1", "00", "01", "-01", "-00", "00.1", "012", "1.", "-1.",
                "0.", ".1",
                "-.1", ".", "1.e1", "0.e1", "1..2", "1.2.3", "1e", "1E", "1e+", "1E-", "1e++1", "1e1.5",
                "1e1e1", "e1",
                "1e 1", "1 .5", "1. 5", "1 000", "1_000", "1,000,", "0x1", "0X1F", "0b1", "0o7", "1f", "1L",
                "1a", "-a",
                "-Infinity", "Infinity", "NaN", "-NaN", "nan", "inf", "1e1_0", "٣", "１", "½", "1\u{a0}",
                "\u{2212}1", "$1",
                "1%", "(1)", "1+2", "1-2", "1/2", "0-1", "-0-", "0.1.", "9.99e", "9.99e+-1", "0e", "0E+",
                "-0e-", "0.0.0",
            ], isJSON: false)
    }

    @Test func `accepts every form of string`() {
        Self.check(
            [
                #""""#, #"" ""#, #""a""#, #""abcdefg""#, #""abcdefgh""#, #""abcdefghi""#, #""\"""#, #""\\""#,
                #""\/""#,
                #""/""#, #""\b\f\n\r\t""#, #""\u0000""#, #""\u001f""#, #""\u0020""#, #""\u00e9""#,
                #""\u00E9""#,
                #""\uABCD""#, #""\uabcd""#, #""\uFFFF""#, #""\ufffe""#, #""\uD7FF""#, #""\uE000""#,
                #""\ud83d\ude00""#,
                #""\uD83D\uDE00""#, #""\uD800\uDC00""#, #""\uDBFF\uDFFF""#, #""x\ud834\udd1ey""#,
                #""\\u0000""#,
                #""\\\\""#, #""\\\"""#, #""\u005C\u0022""#, #""1234567\n""#, #""12345678\n""#, #""{}[],:""#,
                #""null""#,
                "\"\u{7f}\"", "\"\u{80}\"", "\"\u{a0}\"", "\"é\"", "\"ß\u{301}\"", "\"€\"", "\"你好，世界\"",
                "\"😀\"",
                "\"\u{2028}\u{2029}\"", "\"\u{FFFD}\"", "\"\u{FFFE}\"", "\"\u{10FFFF}\"",
                "\"\u{D7FF}\u{E000}\"",
                "\"abcdefgé\"", "\"abcdefg€x\"", "\"'\"", "\"//\"", "\"/* */\"", "\"\u{FEFF}\"",
                "\"\u{200B}\"",
            ], isJSON: true)
    }

    @Test func `refuses every other string`() {
        Self.check(
            [
                "\"", "\"a", "a\"", "'a'", "`a`", "“a”", "\"\\\"", "\"\\", "\"\\a\"", "\"\\x41\"", "\"\\'\"",
                "\"\\0\"",
                "\"\\1\"", "\"\\v\"", "\"\\e\"", "\"\\ \"", "\"\\\n\"", "\"\\B\"", "\"\\N\"", "\"\\U0041\"",
                "\"\\u\"",
                "\"\\u1\"", "\"\\u12\"", "\"\\u123\"", "\"\\u123g\"", "\"\\u 123\"", "\"\\u+123\"",
                "\"\\u-123\"",
                "\"\\u{41}\"", "\"\\uD800\"", "\"\\uDBFF\"", "\"\\uDC00\"", "\"\\uDFFF\"", "\"\\uD800x\"",
                "\"\\uD800\\n\"", "\"\\uD800\\u0041\"", "\"\\uD800\\uD800\"", "\"\\uD800\\uE000\"",
                "\"\\uD800\\\"",
                "\"\\uD800\\u\"", "\"\\uD800\\uDC0\"", "\"\\uDC00\\uD800\"", "\"\\uD83Dx\\uDE00\"", "\"\\é\"",
                "\"a\"b\"", "\"a\" \"b\"", "\"a\"\"b\"", "\"\n\"", "\"\t\"", "\"\r\"", "\"\0\"", "\"\u{1}\"",
                "\"\u{1f}\"", "\"1234567\n\"", "\"12345678\t\"", "\\u0022a\\u0022", "\\\"a\\\"",
                "\"\\u00\\u0022\"",
            ], isJSON: false)
    }

    @Test func `accepts only well-formed UTF-8`() {
        func string(_ middle: [UInt8]) -> [UInt8] { Array("[\"ab".utf8) + middle + Array("cd\"]".utf8) }
        let good = [
            "c280", "dfbf", "e0a080", "e0bfbf", "e18080", "ecbfbf", "ed8080", "ed9fbf", "ee8080", "efbfbf",
            "f0908080",
            "f0bfbfbf", "f1808080", "f3bfbfbf", "f4808080", "f48fbfbf", "efbbbf", "7f", "c3a9c3a9c3a9c3a9",
        ]
        let bad = [
            "80", "bf", "8080", "c0", "c080", "c0af", "c1bf", "c2", "c27f", "c2c0", "df", "dfc0", "e0",
            "e080", "e08080",
            "e09fbf", "e0a0", "e0a0c0", "e1", "e180", "e17f80", "e1807f", "eda080", "edadbf", "edb080",
            "edbfbf", "ee80",
            "efbf", "f0", "f090", "f09080", "f0808080", "f08fbfbf", "f0c08080", "f08080c0", "f1", "f180",
            "f18080",
            "f18080c0", "f4908080", "f4bfbfbf", "f5808080", "f6", "f7bfbfbf", "f888808080", "fbbfbfbfbf",
            "fc8480808080",
            "fe", "ff", "feff", "fffe", "eda0bdedb880", "c3", "e282", "c328", "a0a1", "e28228", "f0288cbc",
            "f09028bc",
            "f0288c28", "c3a9c3", "80c3a9",
        ]
        for sequence in good { #expect(Self.accepts(string(bytes(hex: sequence))), "\(sequence)") }
        for sequence in bad {
            #expect(!Self.accepts(string(bytes(hex: sequence))), "\(sequence)")
            #expect(!Self.accepts(bytes(hex: sequence)), "\(sequence)")
            #expect(!Self.accepts(Array("[\"".utf8) + bytes(hex: sequence)), "\(sequence) at the end")
            #expect(UTF8Text.isValid(UnsafeRawBufferPointer(start: nil, count: 0)))
            #expect(!bytes(hex: sequence).withUnsafeBytes(UTF8Text.isValid), "\(sequence)")
        }
    }

    @Test func `accepts well-formed structure`() {
        Self.check(
            [
                "null", "true", "false", "[]", "{}", "[ ]", "{ }", "[\n]", "{\t\r\n }", "[[]]", "[{}]",
                "{\"\":{}}",
                "[1,2,3]", "[ 1 , 2 , 3 ]", "[null,true,false,\"\",0,[],{}]", "{\"a\":1,\"b\":2}",
                "{ \"a\" : 1 }",
                "{\"a\":{\"a\":{\"a\":{}}}}", "[[[[[[]]]]],[[]]]", "{\"a\":[],\"b\":[{}]}",
                "{\"a\":1,\"a\":2}", "{\"\":0}",
                "{\"\\u0061\":1}", "[[],[],[]]", "[{},{},{}]", "{\"a\":[{\"b\":[{\"c\":null}]}]}",
                "[true,\n\nfalse]",
                "[\"a\",\"b\"]", "{\"k\":\"}\"}", "[\"]\"]", "[\"[\",\"{\"]", "{\"{\":\"}\"}", " 1 ",
                "\n[]\n", "\t{}\r\n",
            ], isJSON: true)
    }

    @Test func `refuses every other structure`() {
        Self.check(
            [
                "[", "]", "{", "}", "[[", "[}", "{]", "[[]", "[]]", "{{}", "{}}", "[{]}",
                "{[}]", "[{}",
                "{\"a\":[}", "[,]", "[,1]", "[1,]", "[1,,2]", "[1 2]", "[1;2]", "[1:2]", "[\"a\":1]", "{,}",
                "{\"a\"}",
                "{\"a\",}", "{\"a\":}", "{\"a\":,}", "{:1}", "{\"a\":1,}", "{,\"a\":1}", "{\"a\":1,,\"b\":2}",
                "{\"a\":1 \"b\":2}", "{\"a\" 1}", "{\"a\"::1}", "{\"a\"=1}", "{\"a\"=>1}", "{a:1}", "{'a':1}",
                "{1:1}",
                "{null:1}", "{true:1}", "{[]:1}", "{{}:1}", "{\"a\":1:2}", "{\"a\":1;}", "{\"a\"b:1}",
                "{\"a\":\"b\":\"c\"}",
                "{\"a\":1,\"b\"}", "{\"a\":1,b:2}", "{\"a\":1]", "[1}", "[1,2}", "{\"a\":1,2}", "True",
                "TRUE", "False",
                "Null", "NULL", "nul", "nulll", "tru", "truee", "fals", "falsey", "t", "f", "n", "nil",
                "none", "undefined",
                "yes", "on", "truefalse", "null null", "1 2", "[] []", "{} {}", "[]1", "{}1", "\"\"1",
                "1\"\"", "null,",
                ",null", "[] ,", "//a", "1//a", "/**/1", "[1/**/]", "#1", "<1>", "&", "@", "*", "[*]",
                "[...]", "{...}",
                "\u{FEFF}1", "1\u{FEFF}", "\u{a0}1", "\u{2003}1", "\u{b}1", "\u{c}1", "1\u{c}", "\0", "1\0",
                "\u{1}", "\\n1",
                "\u{7f}", "é", "😀", "abc", "\\", "[\\]", "{\"a\":\\1}", "--", "[-]", "function(){}",
                "new Date()", "/a/",
            ], isJSON: false)
    }

    @Test(arguments: ["", " ", "\n\t\r ", "{\"a\":}", "{\"a\": }", "[1, ]"]) func `refuses a missing value`(
        text: String
    ) {
        #expect(!Self.accepts(Array(text.utf8)))
    }

    static let faults: [(text: String, fault: JSONError.Fault, position: Int)] = [
        ("", .empty, 0), (" \n", .empty, 2), ("\u{FEFF}{}", .byteOrderMark, 0),
        ("{} x", .goesOn, 3),
        ("[1,]", .expected(.value), 3), ("[1 2]", .expected(.commaOrBracket), 3),
        ("{x", .expected(.keyOrEnd), 1),
        ("{\"a\" 1}", .expected(.colon), 5), ("{\"a\":1 \"b\"}", .expected(.commaOrBrace), 7),
        ("[", .endsTooEarly, 1),
        ("{\"a\":1,}", .expected(.key), 7), ("[01]", .number, 2), ("[1.x]", .number, 3),
        ("[nulx]", .expected(.literal), 1),
        ("\"\\x\"", .escape, 2), ("\"ab\\ud800\"", .surrogate, 3), ("\"a\nb\"", .controlCharacter, 2),
        ("\"abc", .endsTooEarly, 4), ("nul", .endsTooEarly, 3), ("-", .endsTooEarly, 1),
        ("1e", .endsTooEarly, 2),
    ]

    @Test(arguments: faults)
    func `an error names the fault and the position`(text: String, fault: JSONError.Fault, position: Int) {
        #expect(throws: JSONError(fault: fault, position: position)) {
            try Array(text.utf8).withUnsafeBytes { try JSONScanner.validate($0) }
        }
    }

    @Test(arguments: [("[", "]"), ("{\"a\":", "}"), ("[1,{\"b\":\"x\",\"a\":", "}]")])
    func `accepts 64 levels and no more`(open: String, close: String) {
        func nested(_ levels: Int) -> [UInt8] {
            let open = String(repeating: open, count: levels)
            return Array((open + "0" + String(repeating: close, count: levels)).utf8)
        }
        let levels = close.count == 2 ? 32 : 64
        #expect(Self.accepts(nested(levels)))
        #expect(!Self.accepts(nested(levels + 1)))
        #expect(!Self.accepts(nested(100_000)))
        #expect(!Self.accepts(Array(String(repeating: open, count: 100_000).utf8)))
    }

    @Test func `refuses every truncation of a text`() {
        let text = Array(#"{"a":[1.5e+3,-0,"x\u00e9\ud83d\ude00é\n",true,false,null,{"b":{}}],"c":""}"#.utf8)
        #expect(Self.accepts(text))
        for length in 0..<text.count {
            #expect(!Self.accepts(Array(text[..<length])), "\(length)")
        }
    }
}
