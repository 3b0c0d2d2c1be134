#if FAILPOINTS
    import Testing

    @testable import Failpoints

    struct FailpointRuleTests {
        @Test(arguments: [
            ("send.before:kill", 1.0, UInt64(0), Int?.none), ("a@b:delay(20):0.5", 0.5, 0, nil),
            ("redis.*.before:drop:0.01:7", 0.01, 7, nil), ("answer:stop:1:0:3", 1, 0, 3),
        ])
        func `probability, seed and number are optional`(
            text: String, probability: Double, seed: UInt64, most: Int?
        ) throws {
            let rules = try FailpointRule.read(text)
            #expect(rules.count == 1)
            #expect(rules[0].probability == probability && rules[0].seed == seed && rules[0].most == most)
        }

        @Test func `commas separate several rules`() throws {
            let rules = try FailpointRule.read("answer:kill:0.1,redis.report.after:drop:0.2:1:5")
            #expect(rules.map(\.point) == ["answer", "redis.report.after"])
            #expect(rules.map(\.action) == [.kill, .drop])
        }

        @Test(arguments: [
            "answer", "answer:", ":kill", "answer:explode", "answer:kill:2", "answer:kill:x",
            "answer:kill:-1",
            "answer:delay:1", "answer:delay(x)", "answer:kill:1:x", "answer:kill:1:1:x",
            "answer:kill:1:1:1:1",
            "a*b*c:kill", "good:kill,bad",
        ])
        func `unreadable rules are refused`(text: String) {
            #expect(throws: FailpointRule.Unreadable.self) { try FailpointRule.read(text) }
        }

        @Test(arguments: [
            ("answer", "answer", true), ("answer", "answers", false),
            ("redis.*.before", "redis.take.before", true),
            ("redis.*.before", "redis.take.after", false), ("redis.*.before", "redis.before", false),
            ("*", "anything", true), ("send.*", "send.after", true), ("send.*", "resend.after", false),
        ])
        func `a star matches any text`(point: String, name: String, isNamed: Bool) throws {
            #expect(try FailpointRule.read("\(point):kill")[0].names(name) == isNamed)
        }

        @Test func `a subject restricts a rule`() throws {
            let rule = try FailpointRule.read("send.before@00fc:crash")[0]
            #expect(rule.applies(to: "send.before", "aa00fc13"))
            #expect(!rule.applies(to: "send.before", "aabb"))
            #expect(!rule.applies(to: "send.after", "00fc"))
        }
    }
#endif
