import Campaigns
import PushModel
import Scheduling
import Testing

struct CampaignJobTests {
    private static let rules = CampaignJob.Rules(
        app: "news", topic: "com.example.news", limits: JobLimits(), now: 1_800_000_000)

    private func parse(_ text: [UInt8]) throws -> ParsedJob {
        try JobParser.parse(text, app: "news", topic: "com.example.news", now: 1_800_000_000)
    }

    @Test func `a job has the campaign's id, message and options, and a push for each device`() throws {
        let campaign = try campaign(
            """
            {"segment":"a","translations":{"de":{"aps":{"alert":"Hallo {{id}}"}},"default":{"aps":{}}},
             "priority":5,"lane":"bulk"}
            """)
        let devices = [
            CampaignDevice(
                token: [UInt8](repeating: 0xAB, count: 32), lang: "de", values: [("id", .text("d\"1"))]),
            CampaignDevice(
                token: [UInt8](repeating: 0xCD, count: 32), values: [("n", .json(Array("7".utf8)))]),
        ]
        let text = CampaignJob(campaign, id: "c-1").text(for: devices)
        let tokens = ["ab", "cd"].map { String(repeating: $0, count: 32) }
        #expect(
            String(decoding: text, as: UTF8.self) == """
                {"id":"c-1","translations":{"de":{"aps":{"alert":"Hallo {{id}}"}},"default":{"aps":{}}},\
                "priority":5,"lane":"bulk","stored":1,"pushes":[{"token":"\(tokens[0])","lang":"de","values":{"id":"d\\"1"}},\
                {"token":"\(tokens[1])","values":{"n":7}}]}
                """)
        let job = try parse(text)
        #expect(job.id == "c-1")
        #expect(job.accepted == 2)
        #expect(job.lane == .bulk && job.options.isStored)
    }

    @Test(
        arguments: [
            ("", 1_800_003_600), ("\"ttl\":60,", 1_800_000_060),
            ("\"expires_at\":1800000099,", 1_800_000_099),
        ] as [(String, Int64)]) func `pushes expire with the window, unless the campaign says otherwise`(
            option: String, deadline: Int64
        ) throws
    {
        let campaign = try campaign("{\"segment\":\"a\",\(option)\"payload\":{\"aps\":{}}}")
        let device = CampaignDevice(token: [UInt8](repeating: 1, count: 32))
        let text = CampaignJob(campaign, id: "c").text(for: [device], expiry: UTCTime(seconds: 1_800_003_600))
        #expect(try parse(text).options.deadline == deadline)
    }

    @Test func `rounds replace each other by a collapse id, and the last round has the fallback`() throws {
        let campaign = try campaign(
            """
            {"segment":"a","payload":{"aps":{"content-available":1}},"repeat":{"every":"25m"},
             "fallback":{"payload":{"aps":{"alert":"New"}}}}
            """)
        let job = CampaignJob(campaign, id: "ed-1")
        let device = CampaignDevice(token: [UInt8](repeating: 1, count: 32))
        #expect(try parse(job.text(for: [device])).options.collapseID == "ed-1")
        let last = String(decoding: job.text(for: [device], isFallback: true), as: UTF8.self)
        #expect(last.contains("\"payload\":{\"aps\":{\"alert\":\"New\"}}"))
        #expect(!last.contains("content-available"))
    }

    @Test func `the fallback of a background campaign is an alert push`() throws {
        let campaign = try campaign(
            """
            {"segment":"a","payload":{"aps":{"content-available":1}},"push_type":"background","priority":5,
             "repeat":{"every":"25m"},"fallback":{"payload":{"aps":{"alert":"New"}}}}
            """)
        let job = CampaignJob(campaign, id: "ed-1")
        let device = CampaignDevice(token: [UInt8](repeating: 1, count: 32))
        #expect(try parse(job.text(for: [device])).options.pushType == .background)
        let last = try parse(job.text(for: [device], isFallback: true)).options
        #expect(last.pushType == .alert && last.priority == 10)
    }

    @Test func `each device gets one of the merged payloads`() throws {
        let campaign = try campaign(
            """
            {"segment":"a","payload":{"aps":{"content-available":1},"fetch":["a"]},"push_type":"background",
             "merge":"editions"}
            """)
        let job = CampaignJob(campaign, id: "c")
        let devices = (0..<3).map { number in
            CampaignDevice(token: [UInt8](repeating: UInt8(number), count: 32), lang: "de").with(
                mergedPayload: number % 2)
        }
        let group = try MergeGroup(name: "editions")
        let own = String(decoding: job.text(for: devices), as: UTF8.self)
        #expect(own.contains(#""merge":"editions","fetch":[{"campaign":"c","items":["a"]}]"#))
        #expect(own.contains(#""collapse_id":"editions""#) && !own.contains("lang"))
        let payloads = [Array(#"{"aps":{},"n":0}"#.utf8), Array(#"{"aps":{},"n":1}"#.utf8)]
        let text = job.text(for: devices, merged: MergedPayloads(group: group, payloads: payloads))
        let parsed = try parse(text)
        #expect(parsed.accepted == 3)
        #expect((0..<3).map { parsed.details.template(of: $0) } == [0, 1, 0])
    }

    @Test func `a job has the payloads of all variants, and each device has one of them`() throws {
        let campaign = try campaign(
            """
            {"segment":"a","variants":[{"name":"short","payload":{"aps":{"alert":"A"}}},
             {"name":"long","payload":{"aps":{"alert":"{{user|you}}"}}}]}
            """)
        let devices = [1, 0, 1].enumerated().map { number, variant in
            CampaignDevice(token: [UInt8](repeating: UInt8(number), count: 32), lang: "de").with(
                variant: variant)
        }
        let job = try parse(CampaignJob(campaign, id: "c").text(for: devices))
        #expect(job.accepted == 3)
        let text = String(decoding: CampaignJob(campaign, id: "c").text(for: devices), as: UTF8.self)
        let head =
            #"{"id":"c","translations":{"v1":{"aps":{"alert":"A"}},"v2":{"aps":{"alert":"{{user|you}}"}}},"#
        #expect(text.hasPrefix(head + #""stored":1,"pushes":[{"token":"00"#))
        #expect(text.contains(#""lang":"v2"},{"token":"01"#) && !text.contains("\"de\""))
    }

    @Test func `a job of its own has another id, and may name devices`() throws {
        let campaign = try campaign(
            "{\"segment\":\"a\",\"payload\":{\"aps\":{\"alert\":\"{{id}}\"}},\"repeat\":{\"every\":\"25m\"}}")
        let device = CampaignDevice(id: "d\"1", values: [("id", .text("x"))])
        let job = try parse(CampaignJob(campaign, id: "ed-1", job: "test").text(for: [device]))
        #expect(job.id == "test" && job.options.collapseID == "ed-1")
        #expect(job.recipients?.names == ["d\"1"])
    }

    static let faults: [(text: String, field: String, at: String, reason: String)] = [
        (
            "{\"segment\":\"a\",\"payload\":{\"aps\":{}},\"priority\":7}", "priority", "7",
            "must be 1, 5 or 10"
        ),
        (
            "{\"segment\":\"a\",\"payload\":{\"aps\":{\"alert\":\"x\"}},\"push_type\":\"background\"}",
            "payload",
            "\"alert\"", "may not hold aps.alert"
        ),
        (
            "{\"segment\":\"a\",\"payload\":{\"aps\":{\"alert\":\"Hi {{user}}\"}}}", "payload", "{\"aps\"",
            "a device may have no \"user\"; give its placeholder a default, as in {{user|there}}"
        ),
        (
            "{\"segment\":\"a\",\"payload\":{\"aps\":{\"alert\":\"Hi {{usr|you}}\"}}}", "payload", "usr|you",
            "a device has no attribute \"usr\"; did you mean \"user\"?"
        ),
        (
            "{\"segment\":\"a\",\"translations\":{\"default\":{\"aps\":{\"alert\":\"{{points|0}}\"}}}}",
            "translations.default", "points|0", "a placeholder may be id, user, platform, lang"
        ),
        (
            "{\"segment\":\"a\",\"translations\":{\"de\":{\"aps\":{}}}}", "payload", "{\"de\"",
            "\"translations\" needs \"default\""
        ),
        (
            "{\"segment\":\"a\",\"variants\":[{\"name\":\"x\",\"payload\":{}},{\"name\":\"y\",\"payload\":{\"u\":\"{{usr|}}\"}}]}",
            "variants[1].payload", "usr|", "a device has no attribute \"usr\""
        ),
        (
            "{\"segment\":\"a\",\"variants\":[{\"name\":\"x\",\"payload\":{}},{\"name\":\"y\",\"payload\":{\"u\":\"{{user}}\"}}]}",
            "variants[1].payload", "{\"u\"", "a device may have no \"user\""
        ),
        ("{\"segment\":\"a\",\"payload\":{},\"topic\":\"b!\"}", "topic", "\"b!\"", "must be a bundle id"),
        ("{\"segment\":\"a\",\"payload\":{},\"expires_at\":5}", "expires_at", "5", "is in the past"),
        (
            "{\"segment\":\"a\",\"payload\":{\"aps\":{\"alert\":1}},\"push_type\":\"background\",\"repeat\":{\"every\":\"25m\"},"
                + "\"fallback\":{\"payload\":{\"aps\":{\"alert\":\"x\"}}}}", "payload", "\"alert\"",
            "may not hold aps.alert"
        ),
    ]

    @Test(arguments: faults.indices) func `refuses content with field and position in the definition`(
        index: Int
    ) throws {
        let fault = Self.faults[index]
        let campaign = try campaign(fault.text)
        let error = #expect(throws: CampaignError.self) { try CampaignJob.check(campaign, rules: Self.rules) }
        #expect(error?.field == fault.field)
        #expect(error?.reason.contains(fault.reason) == true, "\(error?.reason ?? "")")
        if let position = error?.position {
            let rest = String(decoding: Array(fault.text.utf8).dropFirst(position), as: UTF8.self)
            #expect(rest.hasPrefix(fault.at), "\(rest)")
        }
    }

    @Test func `valid content passes`() throws {
        let campaign = try campaign(
            "{\"segment\":\"a\",\"payload\":{\"aps\":{\"alert\":\"{{id}} {{user|you}}\"}},\"repeat\":{\"every\":\"25m\"}}"
        )
        try CampaignJob.check(campaign, rules: Self.rules)
    }
}
