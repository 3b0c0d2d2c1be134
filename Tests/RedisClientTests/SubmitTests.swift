import FarmHarness
import Foundation
import PushModel
import RedisProtocol
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// Checks that producers immediately get an error if the app is unknown or the job is invalid.
@Suite struct SubmitTests {
    let fixture: StoreFixture
    init() throws {
        fixture = try StoreFixture()
        _ = try fixture.redis.run(ScriptFolder.functionCommand())
    }

    static let token = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"

    /// Returns a valid job with further `fields` and a size of at least `bytes`.
    static func job(_ fields: String = "", bytes: Int = 0) -> String {
        let start =
            #"{"tokens":["\#(token)"],"payload":{"aps":{"alert":"Hi"}}"# + (fields.isEmpty ? "" : ",")
            + fields
        return start + String(repeating: " ", count: max(0, bytes - start.utf8.count - 1)) + "}"
    }

    private static let updateAdmission = UpdateAdmission(
        memory: .keep, limitsIntake: false, retryAfter: .milliseconds(500),
        limits: AppLimits(backlog: 1000, inbox: 1_000_000, inboxBytes: 1 << 30, jobBytes: 64 << 20),
        jobRecordSeconds: 600)

    func configure(_ apps: String...) throws {
        for app in apps {
            try fixture.redis.run("SADD", "{pushfarm}:apps", app)
            _ = try fixture.redis.perform(Self.updateAdmission, Keys(app: app))
        }
    }

    func submit(_ text: some Collection<UInt8>, to app: String = "demo") throws -> SubmitJob.Reply {
        try fixture.redis.perform(SubmitJob(job: Array(text), id: ""), Keys(app: app))
    }

    private func submit(_ text: String, to app: String = "demo") throws -> SubmitJob.Reply {
        try submit(text.utf8, to: app)
    }

    private func refusal(_ text: String, to app: String = "demo") throws -> String? {
        guard case .refused(let reason) = try submit(text, to: app) else { return nil }
        return reason
    }

    // MARK: The app

    @Test func `an unknown app is refused with the nearest name`() throws {
        // While Redis knows no app at all, it may have been emptied a moment ago. So producers are told to wait.
        guard case .busy(let wait, "starting") = try submit(Self.job(), to: "shp") else {
            Issue.record("an app is refused before the first one is known")
            return
        }
        #expect((.seconds(1)..<(.seconds(2))).contains(wait))
        try configure("other")
        #expect(try refusal(Self.job(), to: "shp") == #"unknown app "shp": no coordinator has configured it"#)
        try configure("shop", "demo")
        #expect(try refusal(Self.job(), to: "shp") == #"unknown app "shp"; did you mean "shop"?"#)
        #expect(try refusal(Self.job(), to: "SHOP") == #"unknown app "SHOP"; did you mean "shop"?"#)
        #expect(
            try refusal(Self.job(), to: "news") == #"unknown app "news": no coordinator has configured it"#)
        #expect(
            try fixture.redis.run("EXISTS", "pushfarm:shp", "pushfarm:news", "pushfarm:SHOP").integer == 0)
        #expect(try submit(Self.job(), to: "shop") == .accepted(waiting: 1))
    }

    @Test func `an app that is no longer configured is not suggested`() throws {
        try configure("shop")
        _ = try fixture.redis.perform(ForgetApp(silence: .zero), Keys(app: "shop"))
        #expect(try refusal(Self.job(), to: "shp") == #"unknown app "shp": no coordinator has configured it"#)
        #expect(
            try refusal(Self.job(), to: "shop") == #"unknown app "shop": no coordinator has configured it"#)
        // When an app is configured again, its coordinator registers the app within a second.
        try configure("shop")
        #expect(try submit(Self.job(), to: "shop") == .accepted(waiting: 1))
    }

    @Test func `an app stays known while a coordinator updates it and expires without updates`() throws {
        try configure("shop")
        let keys = Keys(app: "shop")
        #expect(try fixture.redis.perform(ForgetApp(silence: .seconds(86_400)), keys) == false)
        try fixture.redis.run("HSET", "{pushfarm:shop}:admission", "configured", "\(1000)")
        try configure("shop")
        #expect(try fixture.redis.perform(ForgetApp(silence: .seconds(86_400)), keys) == false)
        try fixture.redis.run("HSET", "{pushfarm:shop}:admission", "configured", "\(1000)")
        #expect(try fixture.redis.perform(ForgetApp(silence: .seconds(86_400)), keys))
    }

    @Test func `an update by an older release makes an app known`() throws {
        try fixture.redis.run("HSET", "{pushfarm:demo}:admission", "retry", "1000", "max_job_bytes", "1000")
        #expect(try submit(Self.job()) == .accepted(waiting: 1))
    }

    @Test func `a foreign name is printed without control characters and cut`() throws {
        try configure("demo")
        let reason = try #require(
            try refusal(Self.job(), to: "sh\u{1B}[31mp" + String(repeating: "\u{E9}", count: 90)))
        #expect(reason.unicodeScalars.allSatisfy { (32..<127).contains($0.value) } && reason.utf8.count < 120)
    }

    // MARK: The job

    @Test(arguments: [
        ("", "job"), ("hello", "job"), ("{", "job"), ("[]", "job"), ("null", "job"), ("\u{0}\u{1}", "job"),
        (#"{"tokens":[],"payload":{}}"#, "tokens"), (#"{"tokens":{},"payload":{}}"#, "tokens"),
        (#"{"tokens":"aa","payload":{}}"#, "tokens"), (#"{"payload":{}}"#, "tokens"),
        (#"{"tokens":["\#(token)"],"payload":[1]}"#, "payload"), (#"{"tokens":["\#(token)"]}"#, "payload"),
        (#"{"tokens":["\#(token)"],"payload":null}"#, "payload"), (#"{"pushes":[]}"#, "pushes"),
        (#"{"pushes":{"a":1}}"#, "pushes"), (#"{"pushes":[{}],"tokens":["\#(token)"]}"#, "tokens"),
        (#"{"users":[],"payload":{}}"#, "users"), (#"{"devices":["d"]}"#, "payload"),
        (#"{"users":"u","payload":{}}"#, "users"),
        (#"{"users":["u"],"devices":["d"],"payload":{}}"#, "devices"),
        (#"{"devices":["d"],"tokens":["\#(token)"],"payload":{}}"#, "devices"),
        (#"{"pushes":[{}],"payload":{},"translations":{"de":{}}}"#, "translations"),
        (#"{"tokens":["\#(token)"],"translations":{"de":{}}}"#, "translations"),
        (#"{"pushes":[{}],"translations":[1]}"#, "translations"),
        (job(#""lanes":"high""#), "lanes"), (job(#""priority":"10""#), "priority"), (job(#""id":5"#), "id"),
        (job(#""ttl":true"#), "ttl"), (job(#""app":"other""#), "app"), (job(#""lane":null"#), "lane"),
        (job(#""expires_at":864000"#), "expires_at"),
        (job(#""expires_at":"2020-02-29T10:00:00Z""#), "expires_at"),
        (job(#""expires_at":null"#), "expires_at"),
        (job(#""ttl":1,"expires_at":4000000000"#), "expires_at"),
    ])
    func `an invalid job is refused with field and reason and not pushed`(
        text: String, field: String
    ) throws {
        try configure("demo")
        let reason = try #require(try refusal(text))
        #expect(reason.hasPrefix(field + ": ") && reason.utf8.count > field.utf8.count + 10, "\(reason)")
        #expect(try fixture.redis.run("EXISTS", "pushfarm:demo").integer == 0)
        // The farm's parser must report an error for the same field.
        let error = #expect(throws: JobError.self) { try Self.parse(Array(text.utf8)) }
        #expect(error?.field == field)
    }

    @Test func `an unknown field is refused with the nearest name`() throws {
        try configure("demo")
        #expect(
            try refusal(Self.job(#""lanes":1"#)) == #"lanes: there is no field "lanes"; did you mean "lane"?"#
        )
        #expect(
            try refusal(Self.job(#""aps":{}"#)) == #"aps: there is no field "aps"; put it inside "payload""#)
        #expect(
            try refusal(Self.job(#""apns-priority":10"#))
                == #"apns-priority: there is no field "apns-priority"; use "priority""#)
        #expect(
            try refusal(Self.job(#""apns_expiration":10"#))
                == #"apns_expiration: there is no field "apns_expiration"; use "expires_at" or "ttl""#)
        #expect(try refusal("{\"a\":1,") == "job: the job is not valid JSON, at character 8")
        #expect(try refusal(Self.job(#""expires_at":864000"#))?.contains("did you mean \"ttl\"?") == true)
    }

    @Test func `a field of a large job is missing only if its text is nowhere in the job`() throws {
        try configure("demo")
        let tokens =
            #""tokens":["# + String(repeating: #""\#(Self.token)","#, count: 2000) + #""\#(Self.token)"]"#
        #expect(try refusal("{" + tokens + "}")?.hasPrefix("payload: ") == true)
        #expect(try refusal("[" + tokens + "]")?.hasPrefix("job: ") == true)
        #expect(try submit("{" + tokens + #","payload":{}}"#) == .accepted(waiting: 1))
        // The name of a field may contain JSON escapes.
        #expect(try submit("{" + tokens + #","\u0070ayload":{}}"#) == .accepted(waiting: 2))
        #expect(throws: Never.self) { try Self.parse(Array(("{" + tokens + #","\u0070ayload":{}}"#).utf8)) }
    }

    @Test func `a date has passed when its day has ended everywhere`() throws {
        try configure("demo")
        let now = Date()
        func text(_ days: Int, _ zone: String) -> String {
            let day = now.addingTimeInterval(Double(days) * 86_400).ISO8601Format().prefix(10)
            return #""expires_at":"\#(day)T12:00:00\#(zone)""#
        }
        for zone in ["Z", "+14:00", "-12:00"] {
            #expect(try refusal(Self.job(text(-3, zone))) == #"expires_at: "expires_at" is in the past"#)
            #expect(try refusal(Self.job(text(2, zone))) == nil)
        }
        // Special days of the calendar: the script refuses days in the past and accepts days in the future.
        for year in [1970, 1999, 2000, 2001, 2004, 2023, 2024] {
            for day in ["01-01", "02-28", "03-01", "12-31"] {
                let past = #""expires_at":"\#(year)-\#(day)T00:00:00Z""#
                #expect(try refusal(Self.job(past)) != nil, "\(past)")
            }
        }
        for later in ["2100-02-28", "2400-02-29", "9999-12-31"] {
            #expect(try refusal(Self.job(#""expires_at":"\#(later)T00:00:00Z""#)) == nil, "\(later)")
        }
    }

    static func parse(_ bytes: [UInt8]) throws(JobError) {
        _ = try JobParser.parse(
            bytes, app: "demo", topic: "com.example.demo", now: Int64(Date().timeIntervalSince1970))
    }
}
