import Testing

@testable import PushModel

/// The text of a job, made from its fields.
struct JobText {
    static let now: Int64 = 1_780_000_000
    static let token = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"

    /// A job with one token and a small payload. `fields` adds fields, and `without` names fields to leave out.
    static func with(_ fields: String = "", without: String = "") -> String {
        var parts = ["\"tokens\":[\"\(token)\"]", "\"payload\":{\"aps\":{\"alert\":\"Hi\"}}"]
        parts.removeAll { !without.isEmpty && $0.hasPrefix("\"\(without)\"") }
        if !fields.isEmpty { parts.append(fields) }
        return "{" + parts.joined(separator: ",") + "}"
    }

    static func parse(_ text: String, limits: JobLimits = JobLimits()) throws(JobError) -> ParsedJob {
        try JobParser.parse(
            Array(text.utf8), app: "demo", topic: "com.example.demo", now: now, limits: limits)
    }

    /// The error of a job that must be refused.
    static func error(_ text: String, limits: JobLimits = JobLimits()) -> JobError? {
        do throws(JobError) {
            _ = try parse(text, limits: limits)
            Issue.record("not refused: \(text.prefix(300))")
            return nil
        } catch {
            #expect((0...text.utf8.count).contains(error.position))
            return error
        }
    }
}

struct JobParserTests {
    @Test func `times may be ISO 8601 and a time to live may be a duration`() throws {
        let later = try JobText.parse(
            JobText.with(
                "\"deliver_at\":\"2026-06-01T02:00:00+02:00\",\"ttl\":\"1h30m\",\"registered_at\":\"2026-05-01\""
            ))
        #expect(later.deliverAt == 1_780_272_000 && later.options.expiration == 1_780_272_000 + 5400)
        #expect(later.options.registeredAt == 1_777_593_600)
        let soon = try JobText.parse(JobText.with("\"expires_at\":\"2026-06-01T00:00:00.9Z\""))
        #expect(soon.options.expiration == 1_780_272_000)
        #expect(try JobText.parse(JobText.with("\"ttl\":\"0s\"")).options.expiration == 0)
    }

    @Test func `accepts the job of the contract`() throws {
        let job = try JobText.parse(
            """
            {"id": "order-4711", "tokens": ["00fc13adff785122", "AABBCCDDEEFF0011"],
             "payload": {"aps": {"alert": "Hi"}}, "push_type": "alert", "priority": 10, "ttl": 3600,
             "collapse_id": "order", "lane": "high", "deliver_at": 1780000000, "receipts": "failures",
             "delivery": "at-least-once", "max_attempts": 8}
            """)
        #expect(job.id == "order-4711" && job.lane == .high && job.deliverAt == nil)
        #expect(
            job.options
                == PushOptions(
                    pushType: .alert, priority: 10, expiration: JobText.now + 3600,
                    deadline: JobText.now + 3600,
                    collapseID: "order", receipts: .failures, delivery: .atLeastOnce, maxAttempts: 8))
        #expect(job.submitted == 2 && job.accepted == 2 && job.duplicates == 0 && job.malformed.isEmpty)
        #expect(job.pushes.map { hex(job.tokenBytes[$0.token]) } == ["00fc13adff785122", "aabbccddeeff0011"])
    }

    @Test func `fills in the defaults`() throws {
        let job = try JobText.parse(JobText.with())
        #expect(job.id == nil && job.lane == .high && job.deliverAt == nil)
        #expect(job.options == PushOptions())
        #expect(job.options.priority == 10 && job.options.maxAttempts == 8 && job.options.expiration == nil)
        #expect(try JobText.parse(JobText.with("\"push_type\":\"voip\"")).options.priority == 10)
    }

    @Test func `accepts every field`() throws {
        let job = try JobText.parse(
            JobText.with(
                #""app":"demo","id":"ä😀","push_type":"liveactivity","priority":5,"expires_at":1780000500,"#
                    + #""collapse_id":"c c","topic":"com.other.push-type.liveactivity","lane":"bulk","#
                    + #""deliver_at":1780000100,"receipts":"all","delivery":"at-most-once","#
                    + #""max_attempts":100,"registered_at":1770000000"#))
        #expect(job.id == "ä😀" && job.lane == .bulk && job.deliverAt == 1_780_000_100)
        #expect(
            job.options
                == PushOptions(
                    pushType: .liveactivity, priority: 5, expiration: 1_780_000_500, deadline: 1_780_000_500,
                    collapseID: "c c", topic: "com.other.push-type.liveactivity", receipts: .all,
                    delivery: .atMostOnce, maxAttempts: 100, registeredAt: 1_770_000_000))
    }

    @Test func `an escaped name equals the plain name`() throws {
        let job = try JobText.parse(
            #"{"\u0074okens":["\#(JobText.token)"],"p\u0061yload":{},"\u0069d":"\u0061"}"#)
        #expect(job.id == "a" && job.accepted == 1)
    }

    static let lives: [(fields: String, expiration: Int64?, deadline: Int64?)] = [
        ("\"ttl\":3600", JobText.now + 3600, JobText.now + 3600),
        ("\"ttl\":0", 0, nil),
        ("\"ttl\":1", JobText.now + 1, JobText.now + 1), ("\"expires_at\":0", 0, nil),
        ("\"expires_at\":1780000001", 1_780_000_001, 1_780_000_001),
        ("\"expires_at\":99999999999", 99_999_999_999, 99_999_999_999),
        ("\"ttl\":60,\"deliver_at\":1780001000", 1_780_001_060, 1_780_001_060),
        ("\"ttl\":60,\"deliver_at\":1", JobText.now + 60, JobText.now + 60),
        ("\"ttl\":0,\"deliver_at\":1780001000", 0, nil), ("\"push_type\":\"pushtotalk\"", 0, nil),
        ("\"push_type\":\"pushtotalk\",\"ttl\":0", 0, nil), ("\"lane\":\"bulk\"", nil, nil),
    ]

    @Test(arguments: lives)
    func `computes expiration and deadline`(fields: String, expiration: Int64?, deadline: Int64?) throws {
        let job = try JobText.parse(JobText.with(fields))
        #expect(job.options.expiration == expiration && job.options.deadline == deadline)
    }

    static let year: Int64 = 366 * 86_400
    static let starts: [(time: Int64, start: Int64?)] = [
        (0, nil), (JobText.now - 1, nil), (JobText.now, nil), (JobText.now + 1, JobText.now + 1),
        (JobText.now + year, JobText.now + year),
    ]

    @Test(arguments: starts)
    func `a start in the past means now`(time: Int64, start: Int64?) throws {
        #expect(try JobText.parse(JobText.with("\"deliver_at\":\(time)")).deliverAt == start)
    }

    @Test func `every push type works with its own topic and without a topic`() throws {
        for type in PushType.allCases {
            let payload = "\"payload\":{\"aps\":{\"content-available\":1}}"
            let base = "{\"tokens\":[\"\(JobText.token)\"],\(payload),\"push_type\":\"\(type.name)\""
            let plain = try JobText.parse(base + "}")
            #expect(plain.options.topic == nil && plain.options.pushType == type)
            #expect(plain.options.priority == (type == .background ? 5 : 10))
            #expect(type.topic(ofApp: "com.example.demo") == "com.example.demo" + type.topicSuffix)
            #expect(type.topic(ofApp: "a" + type.topicSuffix) == "a" + type.topicSuffix)
            let topic = "com.other-app_1" + type.topicSuffix
            #expect(try JobText.parse(base + ",\"topic\":\"\(topic)\"}").options.topic == topic)
            if !type.topicSuffix.isEmpty {
                let error = JobText.error(base + ",\"topic\":\"com.other\"}")
                #expect(error?.field == "topic" && error?.reason.contains("\"\(type.topicSuffix)\"") == true)
                #expect(error?.reason.contains("com.example.demo" + type.topicSuffix) == true)
            }
        }
    }
}
