import FarmHarness
import OpenSSL
import PushModel
import Testing

/// The gateway receives the payloads and headers of jobs as the producer wrote them, and the producer gets the outcomes.
@Suite(.startsProcesses) struct JobDeliveryTests {
    @Test func `a job of tokens arrives with its headers and its exact bytes`() async throws {
        let farm = try await Farm()
        let tokens = Tokens.make(3)
        // The farm must send the payload unchanged. A JSON decoder and encoder would change these spaces, escapes and digits.
        let payload = "{ \"aps\" : {\"alert\":\"\\u0048i \u{1F600}\",\n\"badge\": 1.50e1 } , \"x\":1E2}"
        let job = Job(
            id: "full", tokens: tokens.map { $0.uppercased() }, payload: payload,
            fields: #"""
                "app":"demo","push_type":"voip","priority":5,"expires_at":4000000000,"collapse_id":"öä",
                "topic":"com.example.demo.voip","lane":"bulk","deliver_at":1,"receipts":"all",
                "delivery":"at-most-once","max_attempts":3,"registered_at":1700000000
                """#)
        try farm.push([job])
        let jobRecord = try await farm.finished("full")
        #expect(jobRecord.delivered == 3 && jobRecord.submitted == 3 && jobRecord.failed == 0)
        let lines = try farm.gateway.ledger().lines
        #expect(Set(lines.compactMap(\.token)) == Set(tokens) && lines.count == 3)
        #expect(Set(lines.compactMap(\.apnsId)).count == 3)
        for line in lines {
            #expect(line.status == 200 && line.warning == nil)
            #expect(line.topic == "com.example.demo.voip")
            #expect(line.pushType == "voip")
            #expect(line.priority == "5")
            #expect(line.expiration == "4000000000")
            // The ledger writes each byte of a header as one character.
            #expect(line.collapseId?.unicodeScalars.map { UInt8($0.value) } == Array("öä".utf8))
            #expect(line.bodySha256 == Hexadecimal.text(of: SHA256.hash(Array(payload.utf8))))
        }
    }

    @Test func `a job of pushes sends each token its own payload and the default options`() async throws {
        let farm = try await Farm()
        let tokens = Tokens.make(300)
        let payloads = tokens.indices.map { #"{"aps":{"badge":\#($0)},"n": \#($0)}"# }
        let pushes = zip(tokens, payloads).map { #"{"payload":\#($1),"token":"\#($0)"}"# }
        try farm.push(#"{"pushes":[\#(pushes.joined(separator: ","))],"id":"each"}"#)
        #expect(try await farm.finished("each").delivered == 300)
        let hashes = Dictionary(uniqueKeysWithValues: zip(tokens, payloads))
            .mapValues { Hexadecimal.text(of: SHA256.hash(Array($0.utf8))) }
        let lines = try farm.gateway.ledger().lines
        #expect(lines.count == 300)
        for line in lines {
            #expect(line.bodySha256 == line.token.flatMap { hashes[$0] })
            #expect(line.topic == "com.example.demo" && line.pushType == "alert")
            #expect(line.priority == "10" && line.expiration == nil && line.collapseId == nil)
        }
    }

    @Test func `a ttl becomes the expiration, and a background push has priority 5`() async throws {
        let farm = try await Farm()
        let tokens = Tokens.make(2)
        try farm.push([
            Job(id: "ttl", tokens: [tokens[0]], fields: #""ttl":3600"#),
            Job(
                id: "zero", tokens: [tokens[1]], payload: #"{"aps":{"content-available":1}}"#,
                fields: #""ttl":0,"push_type":"background""#),
        ])
        let first = try await farm.finished("ttl")
        #expect(try await farm.finished("zero").delivered == 1)
        let lines = try farm.gateway.ledger().lines
        let ttl = try #require(lines.first { $0.token == tokens[0] })
        let expiration = try #require(ttl.expiration.flatMap { Int64($0) })
        #expect(abs(expiration - (first.createdAt / 1000 + 3600)) <= 2)
        let zero = try #require(lines.first { $0.token == tokens[1] })
        #expect(zero.expiration == "0" && zero.priority == "5" && zero.pushType == "background")
    }

    @Test(arguments: ["all", "failures", "none"])
    func `the events of a job match the receipt that it asks for`(receipts: String) async throws {
        let farm = try await Farm()
        let good = Tokens.make(5)
        let gone = "dead00016553f100" + Tokens.make(1)[0].prefix(48)
        let bad = Tokens.make(1, start: "bad00000")[0]
        let malformed = "not-a-token"
        let tokens = good + [bad, gone, good[0].uppercased(), malformed]
        try farm.push([Job(id: "r", tokens: tokens, fields: #""receipts":"\#(receipts)""#)])
        let jobRecord = try await farm.finished("r")
        #expect(jobRecord.submitted == 9 && jobRecord.accepted == 7)
        #expect(jobRecord.malformed == 1 && jobRecord.duplicates == 1)
        #expect(jobRecord.delivered == 5 && jobRecord.failed == 2)
        #expect(jobRecord.reasons == ["BadDeviceToken": 1, "Unregistered": 1])

        let accepted = try #require(try farm.events("job.accepted").first)
        #expect(
            accepted.without("at") == [
                "type": "job.accepted", "job": "r", "submitted": "9", "accepted": "7", "malformed": "1",
                "duplicates": "1",
            ])
        let finished = try #require(try farm.events("job.finished").first)
        #expect(
            finished.without("at") == [
                "type": "job.finished", "job": "r", "accepted": "7", "delivered": "5", "failed": "2",
            ])
        // Other jobs may have the same invalid or malformed tokens, so the farm reports these tokens whatever receipts the job
        // asks for.
        let dead = Set(try farm.events("token.invalid").map { $0.without("at") })
        #expect(
            dead == [
                [
                    "type": "token.invalid", "job": "r", "token": bad, "reason": "BadDeviceToken",
                    "status": "400",
                ],
                [
                    "type": "token.invalid", "job": "r", "token": gone, "reason": "Unregistered",
                    "status": "410", "timestamp": "1700000000000",
                ],
            ])
        let odd = try #require(try farm.events("token.malformed").first)
        #expect(odd["token"] == malformed && odd["job"] == "r" && odd["reason"]?.isEmpty == false)
        let failed = try farm.events("push.failed")
        #expect(failed.count == (receipts == "none" ? 0 : 2))
        #expect(failed.allSatisfy { $0["job"] == "r" && $0["status"] != nil })
        let delivered = try farm.events("push.delivered").compactMap { $0["token"] }
        #expect(delivered.sorted() == (receipts == "all" ? good.sorted() : []))
    }

    @Test func `a token that was registered again after its 410 time is not reported as invalid`()
        async throws
    {
        let farm = try await Farm()
        let gone = "dead00016553f100" + Tokens.make(1)[0].prefix(48)
        try farm.push([
            Job(id: "later", tokens: [gone], fields: #""registered_at":1700000001"#),
            Job(id: "before", tokens: [gone], fields: #""registered_at":1699999999"#),
        ])
        #expect(try await farm.finished("later").reasons == ["Unregistered": 1])
        #expect(try await farm.finished("before").reasons == ["Unregistered": 1])
        #expect(try farm.events("token.invalid").map { $0["job"] } == ["before"])
    }
}

extension Dictionary where Key == String {
    func without(_ key: String) -> Self { filter { $0.key != key } }
}
