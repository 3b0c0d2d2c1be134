import Foundation
import Testing

@testable import pushfarm

struct TimeOptionTests {
    @Test(
        arguments: [("90", 90_000), ("0.5", 500), ("90s", 90_000), ("1h30m", 5_400_000)] as [(String, Int64)])
    func `a duration is seconds or has units`(text: String, milliseconds: Int64) throws {
        #expect(try DurationOption(reading: text).milliseconds == milliseconds)
    }

    @Test(arguments: ["", "x", "-5", "1e3", "5w", "1.2.3"])
    func `an invalid duration is refused`(text: String) {
        #expect(throws: OptionFault.self) { try DurationOption(reading: text) }
    }

    @Test(arguments: [
        ("1795700000000", "the number looks like milliseconds; use Unix seconds"),
        ("1795700000000000", "the number is too large for a time in Unix seconds"),
        ("99999999999999999999", "the number is too large for a time in Unix seconds"),
        ("-5", "Unix seconds are not negative"), ("-5m", "a duration is not negative"),
        ("2027-01-01T10:00:00", "a time needs a time zone, such as Z or +02:00"),
        ("2027-02-30", "there is no such day"), ("5w", "there is no unit w: d, h, m, s or ms"),
        ("soon", "use 2h or 3d, Unix seconds, or a time such as 2026-05-01T10:00:00Z"),
    ])
    func `an invalid moment has a reason`(text: String, reason: String) {
        let fault = #expect(throws: OptionFault.self) { try Moment(reading: text) }
        #expect(fault?.description == reason)
    }

    @Test func `a time in the past has its own error`() throws {
        for text in ["2020-01-01T00:00:00Z", "1600000000"] {
            let error = #expect(throws: (any Error).self) {
                try JobFieldOptions.parse(["--expires-at", text])
            }
            #expect(error.map { JobFieldOptions.message(for: $0) } == "--expires-at is in the past.")
        }
        let small = #expect(throws: (any Error).self) { try JobFieldOptions.parse(["--expires-at", "3600"]) }
        #expect(
            small.map { JobFieldOptions.message(for: $0) }
                == "--expires-at is in the past: a number is Unix seconds; 3600s is from now on.")
        #expect(try JobFieldOptions.parse(["--expires-at", "0"]).expiresAt == .at(0))
    }

    @Test func `a future moment counts from now`() throws {
        #expect(try Moment(reading: "2h").future(now: 1000) == 7_201_000)
        #expect(try Moment(reading: "1780000000").future(now: 1000) == 1_780_000_000_000)
        #expect(try Moment(reading: "2026-05-01T10:00:00Z").future(now: 1000) == 1_777_629_600_000)
    }

    @Test func `times of a job are sent in seconds`() throws {
        let options = try JobFieldOptions.parse([
            "--ttl", "1h", "--expires-at", "2030-01-01T00:00:00Z", "--deliver-at", "1780000000",
        ])
        let fields = Dictionary(uniqueKeysWithValues: options.fields.map { ($0.name, $0.value) })
        #expect(
            fields == [
                "ttl": .number(3600), "expires_at": .number(1_893_456_000),
                "deliver_at": .number(1_780_000_000),
            ])
        #expect(throws: (any Error).self) { try JobFieldOptions.parse(["--ttl", "1500ms"]) }
        let now = Int(Date().timeIntervalSince1970)
        let ahead = try JobFieldOptions.parse(["--expires-at", "3h", "--deliver-at", "2h"])
        for (name, seconds) in [("expires_at", 10_800), ("deliver_at", 7_200)] {
            guard case .number(let time)? = ahead.fields.first(where: { $0.name == name })?.value else {
                Issue.record("\(name) is no number")
                continue
            }
            #expect((0...60).contains(Int(time) - now - seconds))
        }
    }

    /// Each option that reads a time accepts a number with a unit.
    @Test func `every option for a time accepts durations`() throws {
        #expect(
            try PushCommand.parse(["--token", "aa", "--alert", "x", "--timeout", "2m"]).timeout.milliseconds
                == 120_000)
        #expect(
            try CancelCommand.parse(["job", "--timeout", "2m", "--at", "2h"]).at
                == .span(7_200_000))
        #expect(try BacklogCommand.parse(["--over", "500ms"]).over.milliseconds == 500)
        #expect(try JobsCommand.parse(["--over", "1m"]).over.milliseconds == 60_000)
        #expect(try TopCommand.parse(["--interval", "500ms"]).interval.milliseconds == 500)
        #expect(try PingCommand.parse(["--timeout", "1m"]).timeout.milliseconds == 60_000)
        #expect(try OperatorOptions.parse(["--timeout", "1m"]).timeout?.milliseconds == 60_000)
        #expect(try ReplayCommand.parse(["--job", "a", "--ttl", "1d"]).ttl?.milliseconds == 86_400_000)
        #expect(throws: (any Error).self) { try TopCommand.parse(["--interval", "61s"]) }
        #expect(throws: (any Error).self) { try PingCommand.parse(["--timeout", "0"]) }
    }
}
