import Testing

@testable import PushModel

/// Parses jobs in which each push has its own values for the job's template, or its own options.
struct PersonalPushTests {
    private static let tokens = (0..<9).map { "aabbccddeeff001\($0)" }

    /// The text of a job. Each push has a token and the fields that one element of `pushes` lists.
    private static func job(_ fields: String, _ pushes: [String]) -> String {
        let pushes = zip(tokens, pushes).map { "{\"token\":\"\($0)\"" + ($1.isEmpty ? "" : ",") + $1 + "}" }
        return "{" + fields + ",\"pushes\":[" + pushes.joined(separator: ",") + "]}"
    }

    /// The payload of each accepted push, as a worker sends it.
    private static func payloads(_ job: ParsedJob) throws -> [String] {
        try batch(of: job).map { batch in batch.pushes.map { batch.text($0.payload) } } ?? []
    }

    /// The payload of one accepted push, as a worker sends it.
    static func payload(of push: Int, in job: ParsedJob) throws -> [UInt8] {
        let batch = try #require(try batch(of: job))
        return Array(batch.bytes[batch.pushes[push].payload])
    }

    /// The job as one batch, with one job part for each push.
    private static func batch(of job: ParsedJob) throws -> Batch? {
        var builder = BatchBuilder()
        for (number, push) in job.pushes.enumerated() {
            let options = job.details.optionNumber(of: number)
            let head = JobPartHead(
                jobID: "j", options: options == 0 ? job.options : job.details.options(number: options),
                payloadPerPush: true, hasTemplates: job.details.hasTemplates)
            builder.begin(head, payload: UnsafeRawBufferPointer(start: nil, count: 0))
            job.tokenBytes[push.token].withUnsafeBytes { token in
                guard job.details.hasTemplates else {
                    return job.raw[job.payload(of: number)].withUnsafeBytes {
                        builder.append(token: token, payload: $0)
                    }
                }
                let template = job.details.template(of: number)
                job.details.withValues(of: number) {
                    builder.append(
                        token: token, template: template, job.details.templates[template], values: $0)
                }
            }
        }
        return try builder.finish().map { try Batch(decoding: $0) }
    }

    // MARK: Values

    @Test func `one payload is rendered with the values of each push`() throws {
        let job = try JobText.parse(
            Self.job(
                #""payload":{"aps":{"alert":"Hi {{name|there}}","badge":"{{=n|0}}"}}"#,
                [
                    #""values":{"name":"Ada","n":3}"#, "", #""values":{}"#,
                    #""values":{"n":1.5,"unused":true}"#,
                ]))
        #expect(job.payload == nil && job.accepted == 4 && job.warning == nil)
        #expect(
            try Self.payloads(job) == [
                #"{"aps":{"alert":"Hi Ada","badge":3}}"#, #"{"aps":{"alert":"Hi there","badge":0}}"#,
                #"{"aps":{"alert":"Hi there","badge":0}}"#, #"{"aps":{"alert":"Hi there","badge":1.5}}"#,
            ])
    }

    @Test func `pushes with a payload without placeholders share its exact bytes`() throws {
        let payload = #"{ "aps" : {"alert":"\u0048i } {"} }"#
        let job = try JobText.parse(Self.job("\"payload\":\(payload)", ["", #""values":{"x":1}"#]))
        let range = try #require(job.payload)
        #expect(String(decoding: job.raw[range], as: UTF8.self) == payload && !job.details.hasTemplates)
    }

    @Test func `a job of tokens and a payload of a push have no placeholders`() throws {
        let payload = #"{"aps":{"alert":"{{name"}}"#
        let shared = try JobText.parse("{\"tokens\":[\"\(Self.tokens[0])\"],\"payload\":\(payload)}")
        #expect(String(decoding: shared.raw[shared.payload(of: 0)], as: UTF8.self) == payload)
        let own = try JobText.parse(Self.job("\"id\":\"j\"", ["\"payload\":\(payload)"]))
        #expect(try Self.payloads(own) == [payload])
    }

    @Test func `malformed and repeated pushes have no values in the job`() throws {
        let text = #"""
            {"payload":{"a":"{{n}}"},"pushes":[{"values":{"n":1},"token":"x"},
             {"values":{"n":2},"token":"aabbccddeeff0011"},{"token":"aabbccddeeff0011","values":{"n":3}},
             {"token":"aabbccddeeff0012","values":{"n":4}}]}
            """#
        let job = try JobText.parse(text)
        #expect(job.submitted == 4 && job.duplicates == 1 && job.malformed.map(\.index) == [0])
        #expect(try Self.payloads(job) == [#"{"a":"2"}"#, #"{"a":"4"}"#])
    }

    @Test func `the size of each rendered payload is checked`() throws {
        // The payload `{"a":""}` has 8 bytes. The template inserts each value twice, so a value of 2,044 bytes fills the limit of
        // 4,096 bytes.
        func job(_ length: Int, limits: JobLimits = JobLimits()) throws -> ParsedJob {
            let value = String(repeating: "x", count: length)
            return try JobText.parse(
                Self.job(
                    #""payload":{"a":"{{n}}{{n}}"}"#,
                    ["\"values\":{\"n\":\"\(value)\"}", #""values":{"n":1}"#]),
                limits: limits)
        }
        #expect(try job(2044).malformed.isEmpty)
        let large = try job(2045)
        #expect(large.malformed.map(\.fault) == [.payloadTooLarge(bytes: 4098, limit: 4096)])
        #expect(try Self.payloads(large) == [#"{"a":"11"}"#])
        #expect(try job(100_000).malformed.count == 1)
        #expect(try job(50, limits: JobLimits(payloadBytes: 100)).malformed.count == 1)
    }

    @Test func `a payload that is too large without values is refused`() {
        func error(_ text: String) -> JobError? {
            JobText.error(Self.job("\"payload\":{\"a\":\"\(text){{n}}\"}", [""]))
        }
        let large = error(String(repeating: "x", count: 4100))
        #expect(large?.field == "payload" && large?.reason.contains("has 4108 bytes") == true)
        #expect(error("{{m|" + String(repeating: "x", count: 17_000) + "}}")?.field == "payload")
    }

    // MARK: Translations

    private static let translations =
        #""translations":{"de":{"a":"Hallo {{n}}"},"pt-BR":{"a":"Oi"},"default":{"a":"Hi {{m|you}}"}}"#

    @Test func `the language of a push selects its translation, or a more general one, or the default`()
        throws
    {
        let job = try JobText.parse(
            Self.job(
                Self.translations,
                [
                    #""lang":"de","values":{"n":1}"#, #""lang":"DE_at","values":{"n":2}"#, #""lang":"pt-br""#,
                    #""lang":"pt""#, #""lang":"fr-CH","values":{"m":"x"}"#, "", #""values":{"m":1,"n":2}"#,
                ]))
        #expect(
            try Self.payloads(job).map { $0.dropFirst(6).dropLast(2) } == [
                "Hallo 1", "Hallo 2", "Oi", "Hi you", "Hi x", "Hi you", "Hi 1",
            ])
        #expect(job.details.templates.count == 3)
    }

    // MARK: Options

    @Test func `a push overrides options of its job`() throws {
        let job = try JobText.parse(
            Self.job(
                #""payload":{"a":"{{n|1}}"},"ttl":60,"collapse_id":"job","delivery":"at-most-once""#,
                [
                    "", #""collapse_id":"own""#, #""ttl":0"#,
                    #""expires_at":1780000100,"topic":"com.example.demo""#,
                    #""collapse_id":"own""#, "",
                ]))
        let batch = try #require(try Self.batch(of: job))
        let options = batch.jobParts.map(\.options)
        #expect(options.map(\.collapseID) == ["job", "own", "job", "job", "own", "job"])
        #expect(
            options.map(\.expiration) == [
                1_780_000_060, 1_780_000_060, 0, 1_780_000_100, 1_780_000_060, 1_780_000_060,
            ])
        #expect(
            options.map(\.deadline) == [
                1_780_000_060, 1_780_000_060, nil, 1_780_000_100, 1_780_000_060, 1_780_000_060,
            ])
        #expect(options.map(\.topic) == [nil, nil, nil, "com.example.demo", nil, nil])
        #expect(options.allSatisfy { $0.delivery == .atMostOnce && $0.pushType == .alert })
    }

    @Test func `pushes with payloads may have options, and a shared payload stays one template`() throws {
        let own = try JobText.parse(
            Self.job(#""id":"j""#, [#""payload":{"n":1}"#, #""payload":{"n":2},"collapse_id":"c""#]))
        #expect(try Self.batch(of: own)?.jobParts.map(\.options.collapseID) == [nil, "c"])
        #expect(try Self.payloads(own) == [#"{"n":1}"#, #"{"n":2}"#])
        let shared = try JobText.parse(Self.job(#""payload":{ "n":1}"#, [#""collapse_id":"a""#, ""]))
        #expect(shared.payload == nil && shared.details.templates.count == 1)
        #expect(try Self.payloads(shared) == [#"{ "n":1}"#, #"{ "n":1}"#])
        #expect(try Self.batch(of: shared)?.jobParts.map(\.options.collapseID) == ["a", nil])
    }

    @Test func `the ttl of a push counts from the start of its job`() throws {
        let start = JobText.now + 1000
        let fields = "\"payload\":{\"n\":1},\"deliver_at\":\(start)"
        let job = try JobText.parse(Self.job(fields, [#""ttl":"1m""#]))
        #expect(job.details.options(number: 1).expiration == start + 60)
        let late = JobText.error(Self.job(fields, ["", "\"expires_at\":\(start)"]))
        #expect(late?.field == "pushes[1].expires_at" && late?.reason.contains("deliver_at") == true)
    }

    // MARK: Refused jobs

    private static let payload = #""payload":{"a":"{{name}} {{b|}}"}"#
    private static let named = #""values":{"name":"x"}"#

    @Test(
        arguments: [
            (payload, [named, ""], "pushes[1].values.name", "is missing"),
            (payload, [named, #""values":{"b":1}"#], "pushes[1].values.name", "{{name|there}}"),
            (payload, [#""values":{"name":null}"#], "pushes[0].values.name", "leave it out"),
            (payload, [#""values":{"name":["x"]}"#], "pushes[0].values.name", "a string, a number"),
            (payload, [#""values":{"c":{}}"#], "pushes[0].values.c", "a string, a number"),
            (payload, [#""values":{"name":1,"name":2}"#], "pushes[0].values.name", "given twice"),
            (payload, [#""values":[]"#], "pushes[0].values", "must be an object"),
            (payload, [named + "," + named], "pushes[0].values", "given twice"),
            (payload, [named + #","payload":{}"#], "pushes[0].payload", "exclude each other"),
            (payload, [named + #","lang":"de""#], "pushes[0].lang", "needs \"translations\""),
            (#""id":"j""#, [#""payload":{},"values":{}"#], "pushes[0].values", "needs a \"payload\""),
            (#""id":"j""#, [#""payload":{},"lang":"de""#], "pushes[0].lang", "needs \"translations\""),
            (#""payload":[]"#, [""], "payload", "must be a JSON object"),
            (#""payload":{"a":"{{name"}"#, [""], "payload", "no \"}}\""),
            (
                #""payload":{"aps":{"alert":"{{n}}"}},"push_type":"background""#, [""], "payload",
                "background push"
            ),
            (payload, [named + #","ttl":-1"#], "pushes[0].ttl", "whole seconds"),
            (
                payload, [named, named + #","ttl":1,"expires_at":4000000000"#], "pushes[1].expires_at",
                "exclude each other"
            ),
            (payload, [named + #","collapse_id":"""#], "pushes[0].collapse_id", "1 to 64 bytes"),
            (payload, [named + #","collapse_id":7"#], "pushes[0].collapse_id", "this is 7"),
            (payload, [named + #","topic":"a b""#], "pushes[0].topic", "bundle id"),
            (payload + #","push_type":"pushtotalk""#, [named + #","ttl":9"#], "pushes[0].ttl", "pushtotalk"),
            (payload, [named + #","priority":5"#], "pushes[0].priority", "not known"),
            (translations + "," + payload, [""], "translations", "exclude each other"),
            (#""translations":{}"#, [""], "translations", "empty"),
            (#""translations":[]"#, [""], "translations", "an object such as"),
            (#""translations":{"de":1}"#, [""], "translations.de", "a JSON object"),
            (#""translations":{"de":{},"DE":{}}"#, [""], "translations.DE", "given twice"),
            (#""translations":{"d e":{}}"#, [""], "translations.d e", "named after a language"),
            (#""translations":{"de":{"a":"{{"}}"#, [""], "translations.de", "no \"}}\""),
            (#""translations":{"de":{}}"#, [""], "pushes[0].lang", "is missing"),
            (#""translations":{"de":{}}"#, [#""lang":"fr""#], "pushes[0].lang", "\"fr\""),
            (translations, [#""lang":5"#], "pushes[0].lang", "a language such as"),
            (translations, [#""lang":"""#], "pushes[0].lang", "a language such as"),
            (translations, [#""lang":"de""#], "pushes[0].values.n", "is missing"),
        ] as [(String, [String], String, String)])
    func `a wrong push refuses the whole job with field and reason`(
        fields: String, pushes: [String], field: String, says: String
    ) {
        let error = JobText.error(Self.job(fields, pushes))
        #expect(error?.field == field, "\(String(describing: error))")
        #expect(error?.reason.contains(says) == true, "\(String(describing: error))")
    }

    @Test func `errors point at the wrong place`() {
        let text = Self.job(Self.payload, [Self.named, #""values":{"name":true,"b":{}}"#])
        let error = JobText.error(text)
        #expect(error?.position == text.utf8.count - "{}}}]}".utf8.count)
        let missing = Self.job(Self.payload, [Self.named, #""values":{"b":1}"#])
        #expect(JobText.error(missing)?.position == missing.utf8.count - #"{"b":1}}]}"#.utf8.count)
        let wrong = Self.job(#""payload":{"a":"x {{n"}"#, [""])
        #expect(JobText.error(wrong)?.position == #"{"payload":{"a":"x "#.utf8.count)
    }

    @Test func `the numbers of values and languages are limited`() throws {
        func values(_ count: Int) -> String {
            Self.job(
                Self.payload, ["\"values\":{\"name\":1" + (1..<count).map { ",\"v\($0)\":1" }.joined() + "}"])
        }
        #expect(try JobText.parse(values(64)).accepted == 1)
        #expect(JobText.error(values(65))?.field == "pushes[0].values")
        func languages(_ count: Int) -> String {
            Self.job(
                "\"translations\":{" + (0..<count).map { "\"l\($0)\":{}" }.joined(separator: ",") + "}",
                [#""lang":"l1""#])
        }
        #expect(try JobText.parse(languages(64)).accepted == 1)
        #expect(JobText.error(languages(65))?.field == "translations")
    }

    @Test func `translations need pushes`() {
        let error = JobText.error("{\"tokens\":[\"\(Self.tokens[0])\"]," + Self.translations + "}")
        #expect(error?.field == "translations" && error?.reason.contains("needs \"pushes\"") == true)
    }
}
