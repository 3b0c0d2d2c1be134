import RandomTesting
import Testing

@testable import PushModel

struct JobTokensTests {
    static func job(_ tokens: [String]) -> String {
        "{\"payload\":{},\"tokens\":[" + tokens.joined(separator: " , ") + "]}"
    }

    @Test(arguments: [8, 9, 10, 11, 12, 15, 16, 31, 32, 33, 54, 64, 96, 97, 99, 100])
    func `accepts tokens of every length in either case`(count: Int) throws {
        var random = SplitMix(seed: UInt64(count))
        let token = random.bytes(count)
        let other = random.bytes(count)
        let job = try JobText.parse(Self.job(["\"\(hex(token))\"", "\"\(hex(other).uppercased())\""]))
        #expect(job.pushes.map { Array(job.tokenBytes[$0.token]) } == [token, other])
        #expect(job.tokenBytes == token + other)
    }

    static let wrong: [(element: String, fault: MalformedPush.Fault, text: String)] = [
        ("\"\"", .tokenTooShort, ""),
        ("\"aabbccddeeff00\"", .tokenTooShort, "aabbccddeeff00"),
        ("\"aabbccddeeff001\"", .tokenOddDigits, "aabbccddeeff001"),
        ("\"aabbccddeeff0011a\"", .tokenOddDigits, "aabbccddeeff0011a"),
        ("\"aabbccddeeff001g\"", .tokenNotHex, "aabbccddeeff001g"),
        ("\"gabbccddeeff0011\"", .tokenNotHex, "gabbccddeeff0011"),
        ("\"aabbccdd eeff0011\"", .tokenNotHex, "aabbccdd eeff0011"),
        ("\"<aabbccdd>\"", .tokenNotHex, "<aabbccdd>"),
        ("\"aabbccdd-eeff-0011\"", .tokenNotHex, "aabbccdd-eeff-0011"),
        ("\"ａabbccddeeff001\"", .tokenNotHex, "ａabbccddeeff001"),
        ("\"aabbccddeeff0011\\n\"", .tokenNotHex, "aabbccddeeff0011\\n"),
        ("\"/:@`G0aa0aa0aa0a\"", .tokenNotHex, "/:@`G0aa0aa0aa0a"),
        ("\"" + String(repeating: "a", count: 202) + "\"", .tokenTooLong, String(repeating: "a", count: 200)),
        ("\"" + String(repeating: "ü", count: 150) + "\"", .tokenNotHex, String(repeating: "ü", count: 100)),
        (
            "\"x" + String(repeating: "ü", count: 150) + "\"", .tokenNotHex,
            "x" + String(repeating: "ü", count: 99)
        ),
        ("null", .tokenNotText, "null"), ("12345678", .tokenNotText, "12345678"),
        ("{\"a\":1}", .tokenNotText, "{\"a\":1}"),
        ("[\"aabbccddeeff0011\"]", .tokenNotText, "[\"aabbccddeeff0011\"]"), ("true", .tokenNotText, "true"),
    ]

    @Test(arguments: wrong)
    func `malformed tokens are separated with their fault`(
        element: String, fault: MalformedPush.Fault, text: String
    ) throws {
        let good = "\"\(JobText.token)\""
        let job = try JobText.parse(Self.job([good, element]))
        #expect(job.submitted == 2 && job.accepted == 1 && job.malformed.map(\.index) == [1])
        #expect(job.malformed.map(\.fault) == [fault] && job.malformed.map { job.text(of: $0) } == [text])
        #expect(job.malformed[0].reason.hasPrefix("a token"))
        let alone = try JobText.parse(Self.job([element]))
        #expect(alone.submitted == 1 && alone.accepted == 0 && alone.malformed.count == 1)
    }

    @Test func `accepts a token with escapes in its text`() throws {
        let job = try JobText.parse(Self.job([#""\u0061abbccddeeff0011""#, "\"AABBCCDDEEFF0011\""]))
        #expect(job.accepted == 1 && job.duplicates == 1 && hex(job.tokenBytes) == "aabbccddeeff0011")
    }

    @Test func `the first of equal tokens wins`() throws {
        let (a, b) = ("\"aabbccddeeff0011\"", "\"aabbccddeeff0012\"")
        let job = try JobText.parse(Self.job([a, b, "\"AABBccddeeff0011\"", "7", b, a]))
        #expect(job.submitted == 6 && job.accepted == 2 && job.duplicates == 3 && job.malformed.count == 1)
        #expect(job.pushes.map(\.index) == [0, 1] && job.malformed[0].index == 3)
    }

    @Test func `counts duplicates like a set for any number of tokens`() throws {
        var random = SplitMix(seed: 8)
        for count in [1, 7, 8, 9, 30, 33, 64, 500, 5000] {
            var seen: Set<[UInt8]> = []
            var expected: [[UInt8]] = []
            var tokens: [String] = []
            for _ in 0..<count {
                var token = random.bytes(random.chance(2) ? 32 : 8)
                if let old = expected.randomElement(using: &random), random.chance(3) { token = old }
                if seen.insert(token).inserted { expected.append(token) }
                tokens.append("\"" + (random.chance(2) ? hex(token) : hex(token).uppercased()) + "\"")
            }
            let job = try JobText.parse(Self.job(tokens))
            #expect(job.pushes.map { Array(job.tokenBytes[$0.token]) } == expected)
            #expect(job.duplicates == count - expected.count && job.submitted == count)
        }
    }

    @Test func `accepts one payload per push and separates malformed pushes`() throws {
        let large = "{\"x\":\"" + String(repeating: "y", count: 4096) + "\"}"
        let (a, b) = ("aabbccddeeff0011", "aabbccddeeff0012")
        let text = """
            {"pushes": [ {"token": "\(a)", "payload": \(large)}, {"payload": { "n": 1 }, "token": "\(a)"},
             {"token": "\(a)", "payload": {}}, {"token": 5, "payload": {}},
             {"token":"\(b)","payload":{"n":2}} ]}
            """
        let job = try JobText.parse(text)
        #expect(job.submitted == 5 && job.accepted == 2 && job.duplicates == 1)
        #expect(job.pushes.map(\.index) == [1, 4])
        let payloads = job.pushes.indices.map {
            String(decoding: job.raw[job.payload(of: $0)], as: UTF8.self)
        }
        #expect(payloads == ["{ \"n\": 1 }", "{\"n\":2}"])
        #expect(job.malformed.map(\.index) == [0, 3] && job.malformed.map { job.text(of: $0) } == [a, "5"])
        #expect(job.malformed[0].fault == .payloadTooLarge(bytes: 4104, limit: 4096))
    }

    @Test func `checks each payload of a background job`() throws {
        let job = try JobText.parse(
            """
            {"push_type":"background","pushes":[{"token":"aabbccddeeff0011","payload":{"aps":{"sound":"x"}}},
             {"token":"aabbccddeeff0012","payload":{"aps":{"content-available":1}}}]}
            """)
        #expect(job.accepted == 1 && job.malformed.map(\.fault) == [.backgroundWith(.sound)])
    }
}
