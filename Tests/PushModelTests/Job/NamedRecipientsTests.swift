import RandomTesting
import Testing

@testable import PushModel

/// Jobs that name users or devices instead of tokens, and their replacement by jobs with tokens.
struct NamedRecipientsTests {
    private static let one = [UInt8](repeating: 0x1A, count: 8)
    private static let two = [UInt8](repeating: 0x2B, count: 9)
    private static let hexOne = String(repeating: "1a", count: 8)
    private static let hexTwo = String(repeating: "2b", count: 9)

    private static func recipients(of text: String) throws -> NamedRecipients {
        let job = try JobText.parse(text)
        #expect(job.accepted == 0)
        return try #require(job.recipients)
    }

    private static func json(_ text: String, _ tokens: [[[UInt8]]]) throws -> String {
        let job = try recipients(of: text).job(Array(text.utf8), tokens: tokens)
        return String(decoding: job, as: UTF8.self)
    }

    @Test func `users and devices are read in order`() throws {
        let users = try Self.recipients(of: #"{"users":["u-7","é\u0041",""],"payload":{}}"#)
        #expect(users.kind == .users && users.names == ["u-7", "éA", ""] && users.fieldName == "users")
        let devices = try Self.recipients(of: #"{"payload":{},"devices":["d-1"]}"#)
        #expect(devices.kind == .devices && devices.names == ["d-1"] && devices.fieldName == "devices")
        let pushes = try Self.recipients(
            of: #"{"payload":{"a":"{{n}}"},"pushes":[{"values":{"n":1},"device":"d-1"},"#
                + #"{"device":"d-2","ttl":5,"values":{"n":"x"}}]}"#)
        #expect(pushes.kind == .devices && pushes.names == ["d-1", "d-2"] && pushes.fieldName == "pushes")
        let own = try Self.recipients(of: #"{"pushes":[{"device":"d-1","payload":{}}]}"#)
        #expect(own.names == ["d-1"])
        #expect(try JobText.parse(JobText.with()).recipients == nil)
    }

    @Test func `tokens replace the users of a job, and nothing else changes`() throws {
        let text = #" { "id" : "j" , "users" : [ "a", "b" ,"c" ] , "payload":{"users":["a"]} } "#
        #expect(
            try Self.json(text, [[Self.one, Self.two], [], [Self.two]])
                == #" { "id" : "j" , "tokens":["\#(Self.hexOne)","\#(Self.hexTwo)","\#(Self.hexTwo)"],"stored":1,"#
                + #""unknown_recipients":1 , "payload":{"users":["a"]} } "#)
        let escaped = #"{"payload":{},"us\u0065rs":["a"]}"#
        #expect(
            try Self.json(escaped, [[Self.one]]) == #"{"payload":{},"tokens":["\#(Self.hexOne)"],"stored":1}"#
        )
    }

    @Test func `tokens replace the devices of pushes, which keep their other fields`() throws {
        let text =
            #"{"payload":{"a":"{{n}}"},"pushes":[ {"values":{"n":1} , "device" : "d-1"},"#
            + #"{"device":"d-2","values":{"n":"]}"}} ],"lane":"bulk"}"#
        #expect(
            try Self.json(text, [[Self.one], [Self.one, Self.two]])
                == #"{"payload":{"a":"{{n}}"},"pushes":[{"values":{"n":1} , "token":"\#(Self.hexOne)"},"#
                + #"{"token":"\#(Self.hexOne)","values":{"n":"]}"}},{"token":"\#(Self.hexTwo)","values":{"n":"]}"}}],"#
                + #""stored":1,"lane":"bulk"}"#)
        #expect(
            try Self.json(text, [[], [Self.one]])
                == #"{"payload":{"a":"{{n}}"},"pushes":[{"token":"\#(Self.hexOne)","values":{"n":"]}"}}],"#
                + #""stored":1,"unknown_recipients":1,"lane":"bulk"}"#)
    }

    @Test func `the job with tokens has the same options and counts the unknown recipients`() throws {
        let text = #"{"id":"j","users":["a","b"],"payload":{"aps":{}},"push_type":"background","ttl":60}"#
        let named = try JobText.parse(text)
        let recipients = try #require(named.recipients)
        let found = try JobParser.parse(
            recipients.job(named.raw, tokens: [[Self.one, Self.one, Self.two], []]), app: "demo",
            topic: "com.example.demo", now: JobText.now)
        #expect(found.recipients == nil && found.id == "j")
        var options = named.options
        options.isStored = true
        #expect(found.options == options)
        #expect(found.submitted == 3 && found.accepted == 2 && found.duplicates == 1)
        #expect(found.unknownRecipients == 1)
        let nobody = try JobParser.parse(
            recipients.job(named.raw, tokens: [[], []]), app: "demo", topic: "com.example.demo",
            now: JobText.now)
        #expect(nobody.accepted == 0 && nobody.submitted == 0 && nobody.unknownRecipients == 2)
        #expect(nobody.recipients == nil)
        let pushes = #"{"pushes":[{"device":"d","payload":{}}]}"#
        let noPush = try JobText.parse(Self.json(pushes, [[]]))
        #expect(noPush.accepted == 0 && noPush.unknownRecipients == 1)
    }

    static let wrong: [(text: String, field: String, says: String)] = [
        (#"{"users":["a"],"tokens":["aa"],"payload":{}}"#, "users", "exclude each other"),
        (#"{"users":["a"],"devices":["aa"],"payload":{}}"#, "devices", "exclude each other"),
        (#"{"users":["a"],"pushes":[{}],"payload":{}}"#, "users", "exclude each other"),
        (#"{"users":"a","payload":{}}"#, "users", "an array of ids"),
        (#"{"users":[],"payload":{}}"#, "users", "empty"), (#"{"users":["a"]}"#, "payload", "missing"),
        (#"{"devices":["a",5],"payload":{}}"#, "devices[1]", "as a string"),
        (#"{"devices":["a"],"payload":{},"unknown_recipients":1}"#, "unknown_recipients", "the farm sets"),
        (#"{"devices":["a"],"translations":{"de":{}}}"#, "translations", "needs \"pushes\""),
        (#"{"tokens":[],"payload":{},"unknown_recipients":-1}"#, "unknown_recipients", "number"),
        (#"{"tokens":["aa"],"payload":{},"stored":true}"#, "stored", "only the farm"),
        (#"{"users":["a"],"payload":{},"stored":1}"#, "stored", "looks up"),
        (#"{"tokens":[],"payload":{},"unknown_recipients":0}"#, "tokens", "empty"),
        (#"{"pushes":[{"device":"d","token":"aa","payload":{}}]}"#, "pushes[0].device", "exclude each other"),
        (#"{"pushes":[{"device":5,"payload":{}}]}"#, "pushes[0].device", "as a string"),
        (#"{"pushes":[{"device":"d"}]}"#, "pushes[0].payload", "missing"),
        (
            #"{"pushes":[{"device":"d","payload":{}},{"token":"aabbccddeeff0011","payload":{}}]}"#,
            "pushes[1].device", "have a device"
        ),
        (
            #"{"pushes":[{"token":"aabbccddeeff0011","payload":{}},{"device":"d","payload":{}}]}"#,
            "pushes[1].token", "have a token"
        ),
        (#"{"pushes":[{"device":"d"}],"payload":{"a":"{{n}}"}}"#, "pushes[0].values.n", "missing"),
        (#"{"devices":["d"],"payload":{},"ttl":-1}"#, "ttl", "whole seconds"),
        (#"{"user":["d"],"payload":{}}"#, "user", "did you mean \"users\"?"),
    ]

    @Test(arguments: wrong) func `a wrong recipient is refused with its field`(
        text: String, field: String, says: String
    ) {
        let error = JobText.error(text)
        #expect(error?.field == field && error?.reason.contains(says) == true, "\(String(describing: error))")
    }

    @Test func `the number of users and devices has a limit`() {
        let limits = JobLimits(tokens: 2)
        for text in [
            #"{"users":["a","b","c"],"payload":{}}"#,
            #"{"pushes":[{"device":"a"},{"device":"b"},{"device":"c"}],"payload":{}}"#,
        ] {
            #expect(JobText.error(text, limits: limits)?.reason.contains("at most 2") == true)
        }
    }

    /// Whatever the producer writes, an accepted job with names becomes a valid job with tokens.
    @Test func `damaged jobs that are accepted can be completed`() throws {
        let seeds = [
            #"{"id":"j","users":["u-7","é\"","u"],"payload":{"aps":{"alert":"users"}},"ttl":5}"#,
            #"{"pushes":[{"device":"d-1","values":{"n":"]"}},{"values":{},"device":"\u00e9"}],"#
                + #""payload":{"a":"{{n|x}}"},"lane":"bulk"}"#,
            #"{"lane":"high", "devices" : ["d-1", "d-2"] , "payload":{"aps":{}}}"#,
        ]
        var random = SplitMix(seed: 77)
        var completed = 0
        for round in 0..<20_000 {
            var bytes = Array(seeds[round % seeds.count].utf8)
            JSONFuzzTests.mutate(&bytes, &random)
            guard
                let job = try? JobParser.parse(
                    bytes, app: "demo", topic: "com.example.demo", now: JobText.now),
                let recipients = job.recipients
            else { continue }
            let tokens = recipients.names.indices.map { number in
                (0..<(number + round) % 3).map { [UInt8](repeating: UInt8($0), count: 8 + number % 9) }
            }
            let found = try JobParser.parse(
                recipients.job(bytes, tokens: tokens), app: "demo", topic: "com.example.demo",
                now: JobText.now)
            var options = job.options
            options.isStored = true
            #expect(found.options == options && found.recipients == nil)
            #expect(found.submitted == tokens.reduce(0) { $0 + $1.count })
            #expect(found.unknownRecipients == tokens.count(where: \.isEmpty))
            completed += 1
        }
        #expect(completed > 500)
    }
}
