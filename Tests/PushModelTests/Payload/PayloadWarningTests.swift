import Testing

@testable import PushModel

struct PayloadWarningTests {
    private static func warning(_ payload: String, _ type: String) throws -> String? {
        try JobText.parse(
            "{\"tokens\":[\"\(JobText.token)\"],\"payload\":\(payload),\"push_type\":\"\(type)\"}"
        ).warning
    }

    @Test(
        arguments: [
            ("alert", #"{"aps":{"alert":"Hi"}}"#, nil), ("alert", #"{"aps":{"badge":0}}"#, nil),
            ("alert", #"{"aps":{"sound":"x","content-available":1}}"#, nil), ("alert", #"{"aps":{}}"#, nil),
            ("alert", "{}", nil), ("alert", #"{"alert":"Hi"}"#, .noAPS), ("alert", #"{"aps":"Hi"}"#, .noAPS),
            ("alert", #"{"Aps":{"alert":"Hi"}}"#, .noAPS), ("alert", #"{"a":{"aps":{}}}"#, .noAPS),
            ("alert", #"{"aps":{"content-available":1}}"#, .silentAlert),
            ("alert", #"{"x":1,"aps":{"content-available":1,"category":"a"},"y":[]}"#, .silentAlert),
            ("alert", #"{"\u0061ps":{"content-\u0061vailable":1}}"#, .silentAlert),
            ("alert", #"{ "aps" : { "content-available" : 1 , "alert" : {} } }"#, nil),
            ("background", #"{"aps":{"content-available":1}}"#, nil),
            ("background", #"{"aps":{}}"#, .idleBackground),
            ("background", #"{"x":1}"#, .noAPS), ("liveactivity", #"{"aps":{"event":"end"}}"#, nil),
            ("liveactivity", #"{"x":1}"#, .noAPS), ("widgets", #"{"aps":{"content-changed":true}}"#, nil),
            ("voip", #"{"x":1}"#, nil), ("mdm", #"{"mdm":"magic"}"#, nil), ("location", #"{"x":1}"#, nil),
            ("fileprovider", #"{"container-identifier":"x"}"#, nil),
        ] as [(String, String, PayloadWarning?)])
    func `a likely mistake causes a warning for its push type`(
        type: String, payload: String, expected: PayloadWarning?
    ) throws {
        #expect(try Self.warning(payload, type) == expected?.rawValue)
    }

    @Test func `each warning has a text`() {
        for warning in PayloadWarning.allCases { #expect(warning.rawValue.utf8.count > 30) }
    }

    @Test func `only the first of many payloads are checked`() throws {
        func job(_ payloads: [String]) -> String {
            let pushes = payloads.enumerated().map { number, payload in
                "{\"token\":\"00fc13adff78\(1000 + number)\",\"payload\":\(payload)}"
            }
            return "{\"pushes\":[\(pushes.joined(separator: ","))]}"
        }
        let good = #"{"aps":{"alert":"Hi"}}"#
        let first = [String](repeating: good, count: PayloadWarning.mostChecked - 1)
        #expect(try JobText.parse(job(first + [#"{"x":1}"#])).warning == PayloadWarning.noAPS.rawValue)
        #expect(try JobText.parse(job(first + [good, #"{"x":1}"#])).warning == nil)
    }

    @Test func `a start long ago causes a warning beside other reasons`() throws {
        let job = try JobText.parse(
            "{\"tokens\":[\"\(JobText.token)\"],\"payload\":{\"x\":1},\"deliver_at\":3600}")
        let warning = try #require(job.warning)
        #expect(job.deliverAt == nil && warning.hasPrefix("\"deliver_at\" is more than a year in the past"))
        #expect(warning.hasSuffix("; " + PayloadWarning.noAPS.rawValue))
        #expect(try JobText.parse(JobText.with("\"deliver_at\":0")).warning == nil)
        #expect(try JobText.parse(JobText.with("\"deliver_at\":\(JobText.now - 86_400)")).warning == nil)
    }
}
