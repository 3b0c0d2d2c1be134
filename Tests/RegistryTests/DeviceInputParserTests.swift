import PushModel
import Testing

@testable import Registry

@Suite struct DeviceInputParserTests {
    private static let token = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"
    private static let address = DeviceAddress(bytes: (try? DeviceToken.bytes(of: token)) ?? [])

    private func parse(_ text: String) throws(DeviceInputError) -> DeviceInput {
        try DeviceInputParser.parse(Array(text.utf8))
    }

    @Test func `a registration has all fields`() throws {
        let input = try parse(
            """
            {"id":"d-1","token":"\(Self.token)","user":"u-7","tags":["sport","a/b.c-d_e+f@g#h","sport"],
             "zone":"America/Argentina/Buenos_Aires","lang":"ZH-hANT-tw","platform":"ios","app":"3.2 (456)",
             "os":"18.1","model":"iPhone15,2"}
            """)
        #expect(
            input
                == .set(
                    DeviceFields(
                        id: "d-1", addresses: [Self.address], user: "u-7",
                        tags: ["a/b.c-d_e+f@g#h", "sport"],
                        zone: "America/Argentina/Buenos_Aires", lang: "zh-Hant-TW", platform: "ios",
                        app: "3.2 (456)", os: "18.1", model: "iPhone15,2")))
    }

    @Test func `a registration needs only an id and an address`() throws {
        let plain = DeviceInput.set(DeviceFields(id: "d", addresses: [Self.address]))
        #expect(try parse("{\"token\":\"\(Self.token)\",\"id\":\"d\"}") == plain)
        #expect(
            try parse(" {\"id\":\"\\u0064\",\"addresses\":[{\"token\":\"\(Self.token.uppercased())\"}]} ")
                == plain)
    }

    @Test func `addresses name their service and environment`() throws {
        let other = DeviceAddress(environment: .sandbox, bytes: Self.address.bytes)
        let input = try parse(
            """
            {"id":"d","addresses":[{"environment":"sandbox","token":"\(Self.token)","kind":"app"},
             {"token":"\(Self.token)","service":"apns"}]}
            """)
        #expect(input == .set(DeviceFields(id: "d", addresses: [other, Self.address])))
        #expect(
            try parse("{\"id\":\"d\",\"environment\":\"sandbox\",\"token\":\"\(Self.token)\"}")
                == .set(DeviceFields(id: "d", addresses: [other])))
    }

    @Test func `the app's environment is the default`() throws {
        let raw = Array("{\"id\":\"d\",\"token\":\"\(Self.token)\"}".utf8)
        let input = try DeviceInputParser.parse(raw, rules: DeviceInputRules(environment: .sandbox))
        guard case .set(let fields) = input else { throw Unexpected() }
        #expect(fields.addresses.map(\.environment) == [.sandbox])
    }

    @Test func `other inputs remove devices, change tags and forget users`() throws {
        #expect(try parse("{\"id\":\"d\",\"remove\":true}") == .remove(id: "d"))
        #expect(
            try parse("{\"id\":\"d\",\"seen\":\"2026-11-24\",\"remove\":true}")
                == .remove(id: "d", seenUntil: 20_781))
        #expect(
            try parse("{\"remove_tags\":[\"x\"],\"id\":\"d\",\"add_tags\":[\"c\",\"b\",\"c\"]}")
                == .change(id: "d", addTags: ["b", "c"], removeTags: ["x"]))
        #expect(
            try parse("{\"id\":\"d\",\"remove_tags\":[\"x\"]}")
                == .change(id: "d", addTags: [], removeTags: ["x"]))
        #expect(try parse("{\"forget_user\":\"u-7\"}") == .forget(user: "u-7"))
    }

    @Test func `an import has times, and may have a device without a token`() throws {
        let input = try parse(
            """
            {"id":"d","token":"\(Self.token)","since":1700000005,"registered":1700000001,"seen":"2026-11-24"}
            """)
        #expect(
            input
                == .set(
                    DeviceFields(
                        id: "d", addresses: [Self.address],
                        times: DeviceTimes(registered: 1_700_000_001, seenDay: 20_781, since: [1_700_000_005])
                    ))
        )
        let tokenless = DeviceInput.set(
            DeviceFields(id: "d", addresses: [], times: DeviceTimes(registered: 5)))
        #expect(try parse("{\"id\":\"d\",\"registered\":5}") == tokenless)
        #expect(try parse("{\"id\":\"d\",\"addresses\":[],\"registered\":5}") == tokenless)
        let several = try parse(
            "{\"id\":\"d\",\"addresses\":[{\"token\":\"\(Self.token)\"}],\"registered\":5}")
        guard case .set(let fields) = several else { throw Unexpected() }
        #expect(fields.times == DeviceTimes(registered: 5, since: [nil]))
    }

    @Test func `the farm reports a token that the gateway refused`() throws {
        let text = Array("{\"invalid\":\"\(Self.token)\",\"at\":1700000000}".utf8)
        #expect(try DeviceInputParser.parse(text) == .invalidate(Self.address, at: 1_700_000_000))
        let sandbox = try DeviceInputParser.parse(text, rules: DeviceInputRules(environment: .sandbox))
        #expect(
            sandbox
                == .invalidate(
                    DeviceAddress(environment: .sandbox, bytes: Self.address.bytes), at: 1_700_000_000))
    }

    @Test func `an unknown zone is refused if the zones are known`() {
        let raw = Array("{\"id\":\"d\",\"token\":\"\(Self.token)\",\"zone\":\"Europe/Atlantis\"}".utf8)
        #expect(throws: Never.self) { try DeviceInputParser.parse(raw) }
        let error = #expect(throws: DeviceInputError.self) {
            try DeviceInputParser.parse(raw, rules: DeviceInputRules { _ in false })
        }
        #expect(error?.field == "zone" && error?.position == 92 && error?.device == "d")
    }

    /// Bad inputs with the field, the byte and a part of the reason. `TOKEN` stands for a valid token.
    private static let refused: [(String, String, Int, String)] = [
        ("", "device", 0, "nothing but white space"),
        ("[]", "device", 0, "must be a JSON object; this is an array"),
        ("{", "device", 1, "ends too early"),
        ("{\"id\":\"d\"} x", "device", 11, "something follows"),
        ("{\"id\":\"d\",\"remove\":tru}", "remove", 19, "true, false or null"),
        ("{\"id\":\"d\",\"id\":\"e\"}", "id", 15, "\"id\" is given twice"),
        ("{}", "id", 0, "\"id\" is missing"),
        ("{\"id\":7,\"remove\":true}", "id", 6, "must be a string of 1 to 256 bytes"),
        ("{\"id\":\"\",\"remove\":true}", "id", 6, "must be a string of 1 to 256 bytes"),
        ("{\"id\":\" d\",\"remove\":true}", "id", 6, "without control characters or white space"),
        ("{\"id\":\"d\\u0007\",\"remove\":true}", "id", 6, "without control characters"),
        ("{\"id\":\"d\\u00a0\",\"remove\":true}", "id", 6, "without control characters"),
        ("{\"id\":\"\(String(repeating: "ä", count: 129))\",\"remove\":true}", "id", 6, "1 to 256 bytes"),
        ("{\"id\":\"d\"}", "token", 0, "\"token\" is missing"),
        ("{\"id\":\"d\",\"token\":null}", "token", 18, "must be a string of hex digits; this is null"),
        ("{\"id\":\"d\",\"token\":\"00\"}", "token", 18, "\"token\" is wrong"),
        ("{\"id\":\"d\",\"token\":\"xyzxyzxyzxyzxyzxyz\"}", "token", 18, "\"token\" is wrong"),
        (
            "{\"id\":\"d\",\"token\":\"TOKEN\",\"service\":\"fcm\"}", "service", 95,
            "must be \"apns\"; this is \"fcm\""
        ),
        (
            "{\"id\":\"d\",\"token\":\"TOKEN\",\"environment\":\"sandbx\"}", "environment", 99,
            "did you mean \"sandbox\"?"
        ),
        ("{\"id\":\"d\",\"token\":\"TOKEN\",\"seen\":\"2026-11-24\"}", "seen", 92, "needs \"registered\""),
        ("{\"id\":\"d\",\"token\":\"TOKEN\",\"since\":5}", "since", 93, "needs \"registered\""),
        ("{\"id\":\"d\",\"registered\":-5}", "registered", 23, "whole Unix seconds"),
        ("{\"id\":\"d\",\"registered\":\"5\"}", "registered", 23, "whole Unix seconds; this is a string"),
        ("{\"id\":\"d\",\"registered\":1.5}", "registered", 23, "whole Unix seconds"),
        ("{\"id\":\"d\",\"registered\":5,\"seen\":\"yesterday\"}", "seen", 32, "a date such as"),
        ("{\"id\":\"d\",\"registered\":5,\"seen\":\"2026-02-30\"}", "seen", 32, "a date such as"),
        ("{\"invalid\":\"TOKEN\"}", "at", 0, "\"at\" is missing"),
        ("{\"invalid\":\"zz\",\"at\":5}", "invalid", 11, "is wrong"),
        ("{\"invalid\":\"TOKEN\",\"at\":5,\"id\":\"d\"}", "id", 90, "exclude each other"),
        ("{\"id\":\"d\",\"token\":\"TOKEN\",\"at\":5}", "at", 90, "needs \"invalid\""),
        ("{\"id\":\"d\",\"addresses\":[]}", "addresses", 22, "is empty"),
        ("{\"id\":\"d\",\"addresses\":{}}", "addresses", 22, "must be an array of objects"),
        ("{\"id\":\"d\",\"addresses\":[7]}", "addresses[0]", 23, "must be an object"),
        ("{\"id\":\"d\",\"addresses\":[{}]}", "addresses[0].token", 23, "is missing"),
        (
            "{\"id\":\"d\",\"addresses\":[{\"tokn\":\"x\"}]}", "addresses[0].tokn", 24,
            "there is no field \"addresses[0].tokn\"; did you mean \"token\"?"
        ),
        (
            "{\"id\":\"d\",\"addresses\":[{\"id\":\"x\"}]}", "addresses[0].id", 24,
            "the fields are token, service, environment, kind"
        ),
        (
            "{\"id\":\"d\",\"addresses\":[{\"token\":\"TOKEN\"},{\"token\":\"TOKEN\"}]}",
            "addresses[1].token", 109,
            "is the token of an earlier address"
        ),
        (
            "{\"id\":\"d\",\"addresses\":[{\"token\":\"TOKEN\"}],\"token\":\"TOKEN\"}", "token", 109,
            "\"addresses\" and \"token\" exclude each other"
        ),
        (
            "{\"id\":\"d\",\"addresses\":["
                + (0...8).map { "{\"token\":\"0\($0)112233445566778899\"}" }.joined(separator: ",")
                + "]}", "addresses", 287, "at most 8 addresses"
        ),
        ("{\"id\":\"d\",\"tags\":\"a\"}", "tags", 17, "must be an array of strings"),
        ("{\"id\":\"d\",\"tags\":[\"a\",\"b c\"]}", "tags[1]", 22, "ASCII letters, digits and -_./+@#"),
        ("{\"id\":\"d\",\"tags\":[null]}", "tags[0]", 18, "this is null; leave the field out"),
        (
            "{\"id\":\"d\",\"tags\":[\(Array(repeating: "\"t\"", count: 201).joined(separator: ","))]}",
            "tags", 818,
            "at most 200 tags"
        ),
        (
            "{\"id\":\"d\",\"tags\":[\"\(String(repeating: "t", count: 65))\"]}", "tags[0]", 18,
            "1 to 64 ASCII"
        ),
        ("{\"id\":\"d\",\"zone\":\"Berlin, Germany\"}", "zone", 17, "such as \"Europe/Berlin\""),
        ("{\"id\":\"d\",\"zone\":\"../etc/passwd\"}", "zone", 17, "such as \"Europe/Berlin\""),
        ("{\"id\":\"d\",\"zone\":\"Europe//Berlin\"}", "zone", 17, "such as \"Europe/Berlin\""),
        ("{\"id\":\"d\",\"zone\":\"+02:00\"}", "zone", 17, "such as \"Europe/Berlin\""),
        ("{\"id\":\"d\",\"lang\":\"de_AT\"}", "lang", 17, "this is \"de_AT\"; use \"-\" instead of \"_\""),
        ("{\"id\":\"d\",\"lang\":\"d\"}", "lang", 17, "a language tag of BCP 47"),
        ("{\"id\":\"d\",\"lang\":\"de-x\"}", "lang", 17, "a language tag of BCP 47"),
        ("{\"id\":\"d\",\"platform\":\"iOS\"}", "platform", 21, "did you mean \"ios\"?"),
        (
            "{\"id\":\"d\",\"reachability\":\"off\"}", "reachability", 25,
            "must be \"refresh_off\" or \"force_quit\""
        ),
        ("{\"id\":\"d\",\"network\":\"wlan\"}", "network", 20, "must be \"wifi\" or \"cellular\""),
        ("{\"id\":\"d\",\"os\":18.1}", "os", 15, "this is a number"),
        ("{\"id\":\"d\",\"model\":\"a\\\"b\"}", "model", 18, "without \" and \\"),
        ("{\"id\":\"d\",\"user_id\":\"u\"}", "user_id", 10, "there is no field \"user_id\"; use \"user\""),
        ("{\"id\":\"d\",\"tag\":[\"u\"]}", "tag", 10, "did you mean \"tags\"?"),
        ("{\"id\":\"d\",\"colour\":\"u\"}", "colour", 10, "the fields are id, token"),
        ("{\"id\":\"d\",\"\":1}", "device", 10, "there is no field \"\""),
        ("{\"id\":\"d\",\"remove\":false}", "remove", 19, "must be true"),
        (
            "{\"id\":\"d\",\"remove\":true,\"zone\":\"UTC\"}", "zone", 31,
            "\"remove\" and \"zone\" exclude each other"
        ),
        ("{\"id\":\"d\",\"add_tags\":[]}", "add_tags", 21, "adds and removes no tag"),
        (
            "{\"id\":\"d\",\"add_tags\":[\"a\"],\"remove_tags\":[\"a\"]}", "remove_tags", 41,
            "\"add_tags\" and \"remove_tags\" both have \"a\""
        ),
        (
            "{\"id\":\"d\",\"add_tags\":[\"a\"],\"tags\":[\"a\"]}", "tags", 34,
            "\"add_tags\" and \"tags\" exclude each other"
        ),
        ("{\"id\":\"d\",\"forget_user\":\"u\"}", "id", 6, "\"forget_user\" and \"id\" exclude each other"),
    ]

    @Test(arguments: refused)
    func `a bad input is refused with field, position and reason`(
        text: String, field: String, position: Int, reason: String
    ) {
        let text = text.split(separator: "TOKEN", omittingEmptySubsequences: false).joined(
            separator: Self.token)
        let error = #expect(throws: DeviceInputError.self) { try parse(text) }
        #expect(error?.field == field && error?.position == position, "\(String(describing: error))")
        #expect(error?.reason.contains(reason) == true, "\(String(describing: error))")
        #expect((0...text.utf8.count).contains(error?.position ?? -1))
    }

    @Test func `an input that is too large is refused before it is read`() {
        let raw = [UInt8](repeating: UInt8(ascii: "{"), count: DeviceInputRules.mostBytes + 1)
        let error = #expect(throws: DeviceInputError.self) { try DeviceInputParser.parse(raw) }
        #expect(error?.field == "device" && error?.reason == "larger than 65536 bytes: 65537")
    }

    @Test func `every field is in the schema, and common wrong names lead to one`() {
        #expect(
            DeviceSchema.fields.count == 25
                && DeviceSchema.addressFields == ["token", "service", "environment", "kind", "since"])
        for (name, field) in [
            ("deviceId", "id"), ("time_zone", "zone"), ("locale", "lang"), ("app_version", "app"),
        ] {
            let error = #expect(throws: DeviceInputError.self) { try parse("{\"\(name)\":\"x\"}") }
            #expect(error?.reason.hasSuffix("use \"\(field)\"") == true)
        }
    }

    private struct Unexpected: Error {}
}
