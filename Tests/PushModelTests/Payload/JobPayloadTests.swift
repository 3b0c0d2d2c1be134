import Testing

@testable import PushModel

struct JobPayloadTests {
    @Test(arguments: [
        "{ \"aps\" : {\"alert\":\"Grüße \\u00e9 😀\"} , \"n\":1.50e+01 }", "{}", "{\"a\":1,\"a\":2}", "{ \n }",
        "{\"aps\":null}", "{\"mdm\":\"magic\"}",
    ])
    func `keeps the payload's exact bytes`(payload: String) throws {
        let token = "\"tokens\":[\"\(JobText.token)\"]"
        for text in ["{\"payload\": \n\(payload)\t ,\(token)}", "{\(token),\"payload\":\(payload)}"] {
            let job = try JobText.parse(text)
            #expect(String(decoding: job.raw[job.payload(of: 0)], as: UTF8.self) == payload)
            #expect(job.payload == job.payload(of: 0))
        }
        let pushes = "{\"pushes\":[{\"payload\": \(payload) ,\"token\":\"\(JobText.token)\"}]}"
        let job = try JobText.parse(pushes)
        #expect(job.payload == nil && String(decoding: job.raw[job.payload(of: 0)], as: UTF8.self) == payload)
    }

    @Test func `a payload may have exactly the maximum size of its push type`() throws {
        func job(_ type: PushType, _ size: Int) -> String {
            let payload = "{\"x\":\"" + String(repeating: "y", count: size - 8) + "\"}"
            return "{\"tokens\":[\"\(JobText.token)\"],\"payload\":\(payload),\"push_type\":\"\(type.name)\"}"
        }
        for type in PushType.allCases {
            let limit = type == .voip ? 5120 : 4096
            #expect(try JobText.parse(job(type, limit)).payload?.count == limit)
            let error = JobText.error(job(type, limit + 1))
            #expect(error?.field == "payload" && error?.reason.contains("at most \(limit)") == true)
            #expect(error?.reason.contains("\(limit + 1) bytes") == true)
        }
        let error = JobText.error(job(.alert, 2049), limits: JobLimits(payloadBytes: 2048))
        #expect(error?.reason.contains("at most 2048") == true)
    }

    @Test(arguments: [
        "{}", "{\"aps\":{\"content-available\":1}}", "{\"aps\":{}}", "{\"aps\":[\"alert\"]}",
        "{\"aps\":\"alert\"}",
        "{\"aps\":{\"content-available\":1,\"category\":\"alert\"},\"alert\":1,\"badge\":1,\"sound\":1}",
        "{\"x\":{\"aps\":{\"alert\":1}}}", "{\"aps\":{\"x\":{\"alert\":1}}}",
    ])
    func `a background push may contain keys that show nothing`(payload: String) throws {
        let job = try JobText.parse(
            "{\"tokens\":[\"\(JobText.token)\"],\"payload\":\(payload),\"priority\":5,"
                + "\"push_type\":\"background\"}"
        )
        #expect(job.accepted == 1 && job.options.priority == 5)
    }

    @Test(arguments: [
        ("{\"aps\":{\"alert\":\"x\"}}", "alert"),
        ("{\"aps\":{\"content-available\":1,\"badge\":0}}", "badge"),
        ("{\"aps\":{\"sound\":\"\"}}", "sound"), ("{\"aps\":{\"\\u0073ound\":null}}", "sound"),
        ("{\"\\u0061ps\":{\"alert\":{}}}", "alert"), ("{\"aps\":{},\"aps\":{\"alert\":1}}", "alert"),
    ])
    func `a background push may not show or play anything`(payload: String, key: String) {
        let error = JobText.error(
            "{\"tokens\":[\"\(JobText.token)\"],\"payload\":\(payload),\"push_type\":\"background\"}")
        #expect(error?.field == "payload" && error?.reason.contains("aps.\(key)") == true)
    }
}
