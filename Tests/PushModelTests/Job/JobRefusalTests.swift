import Testing

@testable import PushModel

struct JobRefusalTests {
    /// Extra fields that make a valid job invalid, the name of the invalid field, and a part of the reason.
    static let wrongFields: [(fields: String, field: String, says: String)] = [
        ("\"id\":\"\"", "id", "1 to 64 characters"), ("\"id\":4711", "id", "must be a string"),
        ("\"id\":null", "id", "leave the field out"), ("\"id\":\"a\\u0000b\"", "id", "control characters"),
        ("\"id\":\"a\\nb\"", "id", "control characters"), ("\"id\":\"\u{85}\"", "id", "control characters"),
        ("\"id\":\"" + String(repeating: "x", count: 65) + "\"", "id", "1 to 64"),
        ("\"app\":\"other\"", "app", "inbox of \"demo\""), ("\"app\":1", "app", "as a string"),
        ("\"push_type\":\"Alert\"", "push_type", "\"alert\", \"background\""),
        ("\"push_type\":\"silent\"", "push_type", "this is \"silent\""),
        ("\"push_type\":1", "push_type", "this is 1"),
        ("\"priority\":7", "priority", "must be 1, 5 or 10; this is 7"),
        ("\"priority\":0", "priority", "1, 5 or 10"),
        ("\"priority\":10.0", "priority", "this is 10.0"),
        ("\"priority\":\"10\"", "priority", "this is \"10\""),
        ("\"priority\":-5", "priority", "1, 5 or 10"), ("\"priority\":1e1", "priority", "1e1"),
        ("\"priority\":256", "priority", "this is 256"),
        ("\"priority\":99999999999999999999", "priority", "1, 5 or 10"),
        ("\"priority\":[10]", "priority", "this is an array"),
        ("\"priority\":{}", "priority", "this is an object"),
        (
            "\"push_type\":\"background\",\"priority\":10", "priority",
            "must be 5 with push_type \"background\""
        ),
        ("\"push_type\":\"background\",\"priority\":1", "priority", "must be 5"),
        ("\"push_type\":\"liveactivity\",\"priority\":1", "priority", "5 or 10"),
        ("\"push_type\":\"pushtotalk\",\"priority\":5", "priority", "must be 10"),
        ("\"push_type\":\"pushtotalk\",\"ttl\":5", "ttl", "must be 0"),
        ("\"push_type\":\"pushtotalk\",\"expires_at\":1780000500", "expires_at", "must be 0"),
        ("\"ttl\":-1", "ttl", "whole seconds"), ("\"ttl\":1.5", "ttl", "this is 1.5"),
        ("\"ttl\":\"3600\"", "ttl", "whole seconds"), ("\"ttl\":\"3600\"", "ttl", "3600 needs a unit"),
        ("\"ttl\":\"367d\"", "ttl", "from 0 to 31622400"), ("\"ttl\":\"1500ms\"", "ttl", "whole seconds"),
        ("\"ttl\":\"\"", "ttl", "\"90s\""), ("\"ttl\":\"1x\"", "ttl", "this is \"1x\""),
        ("\"ttl\":31622401", "ttl", "from 0 to 31622400"), ("\"ttl\":true", "ttl", "this is true"),
        ("\"ttl\":1,\"expires_at\":2", "expires_at", "exclude each other"),
        ("\"expires_at\":-1", "expires_at", "Unix seconds"),
        ("\"expires_at\":1780000000000", "expires_at", "not milliseconds"),
        ("\"expires_at\":\"2027-01-01T00:00:00\"", "expires_at", "this is \"2027"),
        ("\"expires_at\":\"2027-01-01T00:00:00\"", "expires_at", "(a time needs a time zone, such as Z"),
        ("\"expires_at\":\"1h\"", "expires_at", "2026-05-01T10:00:00Z"),
        ("\"expires_at\":\"1970-01-01T00:00:00+01:00\"", "expires_at", "this is \"1970"),
        ("\"deliver_at\":\"9999-01-01\"", "deliver_at", "Unix seconds"),
        ("\"expires_at\":1e9", "expires_at", "1e9"),
        ("\"expires_at\":864000", "expires_at", "in the past; did you mean \"ttl\"?"),
        ("\"expires_at\":\(JobText.now)", "expires_at", "in the past"),
        ("\"ttl\":\(JobText.now)", "ttl", "a time in Unix seconds is \"expires_at\""),
        ("\"deliver_at\":1780000000000", "deliver_at", "not milliseconds"),
        ("\"deliver_at\":\(JobText.now + 366 * 86_400 + 1)", "deliver_at", "one year"),
        ("\"deliver_at\":1780001000,\"expires_at\":1780001000", "deliver_at", "expire unsent"),
        ("\"registered_at\":1780000000000", "registered_at", "not milliseconds"),
        ("\"registered_at\":\"x\"", "registered_at", "Unix seconds"),
        ("\"collapse_id\":\"\"", "collapse_id", "1 to 64 bytes"),
        ("\"collapse_id\":5", "collapse_id", "a string"),
        ("\"collapse_id\":\"" + String(repeating: "é", count: 33) + "\"", "collapse_id", "64 bytes"),
        ("\"collapse_id\":\"a\\r\\nx: y\"", "collapse_id", "control characters"),
        ("\"collapse_id\":\" a\"", "collapse_id", "white space"),
        ("\"topic\":\"\"", "topic", "bundle id"), ("\"topic\":\"a b\"", "topic", "bundle id"),
        ("\"topic\":\"a\\nb\"", "topic", "bundle id"),
        ("\"topic\":\".voip\",\"push_type\":\"voip\"", "topic", "bundle id"),
        ("\"topic\":\"ä\"", "topic", "bundle id"),
        ("\"topic\":\"" + String(repeating: "x", count: 256) + "\"", "topic", "255"),
        ("\"topic\":\"com.a\",\"push_type\":\"voip\"", "topic", "must end in \".voip\""),
        ("\"lane\":\"low\"", "lane", "\"high\" or \"bulk\""), ("\"lane\":1", "lane", "\"high\" or \"bulk\""),
        ("\"receipts\":\"some\"", "receipts", "\"failures\", \"all\" or \"none\""),
        ("\"receipts\":false", "receipts", "this is false"),
        ("\"delivery\":\"exactly-once\"", "delivery", "\"at-least-once\" or \"at-most-once\""),
        ("\"max_attempts\":0", "max_attempts", "from 1 to 100"),
        ("\"max_attempts\":101", "max_attempts", "from 1 to 100"),
        ("\"max_attempts\":\"8\"", "max_attempts", "from 1 to 100"),
        ("\"playload\":{}", "playload", "did you mean \"payload\"?"),
        ("\"pushType\":1", "pushType", "did you mean \"push_type\"?"),
        ("\"token\":1", "token", "did you mean \"tokens\"?"),
        ("\"Priority\":1", "Priority", "did you mean \"priority\"?"),
        ("\"collapse-id\":1", "collapse-id", "did you mean \"collapse_id\"?"),
        ("\"expire_at\":1", "expire_at", "\"expires_at\""),
        ("\"apns-priority\":5", "apns-priority", "use \"priority\""),
        ("\"apns-collapse-id\":\"a\"", "apns-collapse-id", "use \"collapse_id\""),
        ("\"apns-expiration\":0", "apns-expiration", "use \"expires_at\" or \"ttl\""),
        ("\"apns_priority\":5", "apns_priority", "use \"priority\""),
        ("\"apns_collapse_id\":\"a\"", "apns_collapse_id", "use \"collapse_id\""),
        ("\"apns_push-type\":\"alert\"", "apns_push-type", "use \"push_type\""),
        ("\"APNS_ID\":\"a\"", "APNS_ID", "\"id\" names the job"),
        ("\"APNS-Topic\":\"a\"", "APNS-Topic", "use \"topic\""),
        ("\"apns-push-type\":\"alert\"", "apns-push-type", "use \"push_type\""),
        ("\"apns-id\":\"a\"", "apns-id", "\"id\" names the job"),
        ("\"aps\":{}", "aps", "inside \"payload\""), ("\"zzz\":1", "zzz", "the fields are id, tokens"),
        ("\"\":1", "job", "the fields are"),
        ("\"payload\":{}", "payload", "given twice"),
        ("\"lane\":\"high\",\"lane\":\"high\"", "lane", "given twice"),
        ("\"tokens\":[]", "tokens", "given twice"), ("\"\\u0074okens\":[]", "tokens", "given twice"),
    ]

    @Test func `wrong fields are refused with name, position and reason`() {
        for (fields, field, says) in Self.wrongFields {
            let text = JobText.with(fields)
            let error = JobText.error(text)
            #expect(error?.field == field, "\(fields): \(String(describing: error))")
            #expect(error?.reason.contains(says) == true, "\(fields): \(String(describing: error))")
            #expect(
                error?.position ?? 0 > JobText.with().utf8.count - 90,
                "\(fields): \(String(describing: error))")
        }
    }

    @Test func `a date in the past is not read as a number of seconds`() throws {
        let past = JobText.error(JobText.with("\"expires_at\":\"2020-01-01T00:00:00Z\""))
        #expect(past?.field == "expires_at" && past?.reason == "\"expires_at\" is in the past")
        let warned = try JobText.parse(JobText.with("\"deliver_at\":\"2020-01-01\"")).warning
        #expect(warned == "\"deliver_at\" is more than a year in the past")
    }

    @Test func `an app with one topic refuses a job for another topic`() throws {
        let limits = JobLimits(hasOneTopic: true)
        let error = JobText.error(JobText.with("\"topic\":\"com.example.other\""), limits: limits)
        #expect(
            error?.field == "topic"
                && error?.reason.contains("only the topic of the app's certificate") == true)
        for fields in ["", "\"topic\":\"com.example.demo\"", "\"push_type\":\"voip\""] {
            #expect(try JobText.parse(JobText.with(fields), limits: limits).accepted == 1, "\(fields)")
        }
    }

    @Test(arguments: [
        ("", "com.example.demo", true), ("", "com.example.demo.voip", true), ("", "com.second", true),
        ("voip", "com.example.demo.voip", true), ("complication", "com.second.complication", true),
        ("fileprovider", "com.second.pushkit.fileprovider", true),
        ("location", "com.second.location-query", true),
        ("liveactivity", "com.example.demo.push-type.liveactivity", true),
        ("pushtotalk", "com.example.demo.voip-ptt", true), ("widgets", "com.second.push-type.widgets", true),
        ("controls", "com.second.push-type.controls", true), ("", "com.third", false),
        ("", "com.example.demo.other", false), ("", "com.example.demon", false), ("", "com.example", false),
        ("voip", "com.third.voip", false), ("voip", "com.example.demo.voip.voip", false),
    ])
    func `a job selects a topic of its app with the suffix of a push type`(
        type: String, topic: String, isAllowed: Bool
    ) throws {
        let limits = JobLimits(topics: ["com.second"])
        let text = JobText.with("\"topic\":\"\(topic)\"" + (type.isEmpty ? "" : ",\"push_type\":\"\(type)\""))
        #expect(try JobText.parse(text).options.topic == topic, "any topic")
        guard !isAllowed else {
            #expect(try JobText.parse(text, limits: limits).options.topic == topic)
            return
        }
        let error = JobText.error(text, limits: limits)
        #expect(error?.field == "topic" && error?.reason.contains("\"topics\"") == true)
    }

    @Test func `an app without further topics uses its own`() throws {
        let limits = JobLimits(topics: [])
        #expect(JobText.error(JobText.with("\"topic\":\"com.second\""), limits: limits)?.field == "topic")
        #expect(
            try JobText.parse(JobText.with("\"topic\":\"com.example.demo\""), limits: limits).accepted == 1)
        #expect(try JobText.parse(JobText.with(), limits: limits).accepted == 1)
    }

    /// A job may wait in its inbox until its pushes have expired. The producer made no mistake, so the farm accepts the job.
    @Test func `an expiry in the past does not refuse a job that may have been queued`() throws {
        let limits = JobLimits(longestWait: JobLimits.intakeWait)
        let late = try JobText.parse(JobText.with("\"expires_at\":\(JobText.now - 86_399)"), limits: limits)
        #expect(late.options.deadline == JobText.now - 86_399)
        #expect(late.warning?.contains("\"expires_at\" is in the past") == true)
        for time in [864_000, JobText.now - 86_400] {
            let error = JobText.error(JobText.with("\"expires_at\":\(time)"), limits: limits)
            #expect(error?.field == "expires_at")
        }
        #expect(try JobText.parse(JobText.with("\"expires_at\":0"), limits: limits).warning == nil)
        #expect(try JobText.parse(JobText.with("\"expires_at\":\(JobText.now + 1)")).warning == nil)
    }

    static let wrongStructures: [(text: String, field: String, says: String, position: Int)] = [
        ("", "job", "nothing but white space", 0), ("  ", "job", "nothing", 2),
        ("[]", "job", "this is an array", 0),
        ("\"x\"", "job", "this is a string", 0), (" null", "job", "this is null", 1),
        ("\u{FEFF}{}", "job", "byte order mark", 0),
        ("{", "job", "ends too early", 1), ("{}", "payload", "missing", 0),
        ("{} {}", "job", "follows after its end", 3),
        ("{\"tokens\":[", "tokens", "ends too early", 11),
        ("{\"tokens\":[\"aa", "tokens", "ends too early", 14),
        ("{\"ttl\":01}", "ttl", "not a valid JSON number", 8),
        ("{\"payload\":{\"a\":tru}}", "payload", "true, false or null", 16),
        ("{\"tokens\":[\"aa\" \"bb\"]}", "tokens", "a comma, or ]", 16),
        ("{\"tokens\":{},\"payload\":{}}", "tokens", "this is an object", 10),
        ("{\"tokens\":\"aabb\",\"payload\":{}}", "tokens", "this is a string", 10),
        ("{\"tokens\":[],\"payload\":{}}", "tokens", "empty", 10), ("{\"pushes\":[]}", "pushes", "empty", 10),
        ("{\"pushes\":{}}", "pushes", "array of objects", 10), ("{\"payload\":{}}", "tokens", "missing", 0),
        ("{\"pushes\":[1]}", "pushes[0]", "must be an object", 11),
        ("{\"pushes\":[{}]}", "pushes[0].token", "missing", 11),
        ("{\"pushes\":[{\"token\":\"\"}]}", "pushes[0].payload", "missing", 11),
        ("{\"pushes\":[{\"payload\":[]}]}", "pushes[0].payload", "a JSON object", 22),
        ("{\"pushes\":[{\"token\":1,\"token\":1}]}", "pushes[0].token", "given twice", 22),
        ("{\"pushes\":[{\"lane\":1}]}", "pushes[0].lane", "not known", 12),
        ("{\"pushes\":[{\"token\":\"\",\"payload\":{}},{\"x\":1}]}", "pushes[1].x", "not known", 38),
        ("{\"pushes\":[],\"payload\":{}}", "pushes", "empty", 10),
        ("{\"tokens\":[],\"pushes\":[]}", "tokens", "exclude each other", 10),
    ]

    @Test(arguments: wrongStructures)
    func `wrong structure is refused with its position`(
        text: String, field: String, says: String, position: Int
    ) {
        let error = JobText.error(text)
        #expect(error?.field == field && error?.position == position, "\(String(describing: error))")
        #expect(error?.reason.contains(says) == true, "\(String(describing: error))")
    }

    @Test(arguments: ["null", "[]", "\"{}\"", "1", "true"]) func `a payload must be an object`(
        payload: String
    ) {
        let error = JobText.error("{\"tokens\":[\"\(JobText.token)\"],\"payload\":\(payload)}")
        #expect(error?.field == "payload" && error?.reason.contains("must be a JSON object") == true)
    }

    @Test func `an error names the id of a refused job if it is readable`() {
        #expect(JobText.error(JobText.with("\"id\":\"o-1\",\"ttl\":-1"))?.id == "o-1")
        #expect(JobText.error("{\"id\":\"o-2\",\"tokens\":[")?.id == "o-2")
        #expect(JobText.error("{\"id\":\"o-3\",\"nonsense\":1}")?.id == "o-3")
        #expect(JobText.error("{\"tokens\":[,\"id\":\"o-4\"")?.id == nil)
        #expect(JobText.error(JobText.with("\"id\":\"\",\"ttl\":-1"))?.id == nil)
        #expect(JobText.error("[]")?.id == nil)
    }

    @Test func `long values are cut and no full token is shown`() {
        for fields in [
            "\"ttl\":\"\(JobText.token)\"", "\"\(JobText.token)\":1", "\"lane\":\"\(JobText.token)\"",
        ] {
            let error = JobText.error(JobText.with(fields))
            #expect(error?.description.contains(JobText.token) == false)
            #expect(error?.reason.contains(JobText.token.prefix(30)) == true)
        }
        let control = JobText.error(JobText.with("\"a\\nb\\u0007\":1"))
        #expect(control?.field == "a b ")
    }

    @Test func `the number of tokens has a limit`() throws {
        func job(_ count: Int, _ open: String, _ close: String) -> String {
            (0..<count).map { "\(open)\(1_000_000_000_000_000 + $0)\(close)" }.joined(separator: ",")
        }
        let tokens = { "{\"payload\":{},\"tokens\":[" + job($0, "\"", "\"") + "]}" }
        let pushes = { "{\"pushes\":[" + job($0, "{\"token\":\"", "\",\"payload\":{}}") + "]}" }
        let limits = JobLimits(tokens: 20)
        #expect(try JobText.parse(tokens(20), limits: limits).accepted == 20)
        #expect(try JobText.parse(pushes(20), limits: limits).accepted == 20)
        #expect(JobText.error(tokens(21), limits: limits)?.reason.contains("at most 20 tokens") == true)
        #expect(JobText.error(pushes(21), limits: limits)?.reason.contains("at most 20 pushes") == true)
        #expect(try JobText.parse(tokens(100_000)).accepted == 100_000)
        #expect(JobText.error(tokens(100_001))?.field == "tokens")
    }
}
