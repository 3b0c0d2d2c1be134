import Campaigns
import Scheduling
import Testing

/// Campaigns that began at 05:00 UTC, some in a window of two hours.
struct RemainingTimeTests {
    struct Case: CustomTestStringConvertible {
        let testDescription: String
        let fields: String
        /// The phase and the numbers of the group, in JSON. Times are written as `05:09`.
        let group: String
        let now: String
        /// The remaining minutes.
        let minutes: Double?
    }

    private static let window = #""window":{"from":"05:00","to":"07:00","zone":"UTC"}"#
    private static let staged = window + #","stages":[{"share":"10 %","wait":"30m"},"100 %"]"#
    private static let rounds = window + #","repeat":{"every":"25m","until":"done","max":4}"#
    private static let slow = #""rate":1,"stages":[{"share":"50 %","wait":"10m"},"100 %"]"#

    static let cases = [
        Case(
            testDescription: "one stage and one round", fields: window,
            group: #""counted":7200,"handled":3600,"began":05:00,"planned_end":07:00"#, now: "06:00",
            minutes: 60),
        Case(
            testDescription: "the first of two stages", fields: staged,
            group: #""counted":1000,"handled":33,"began":05:00,"planned_end":05:09"#, now: "05:03",
            minutes: 117),
        Case(
            testDescription: "between two stages", fields: staged,
            group: #""gated_since":05:09,"counted":1000,"handled":100,"began":05:00,"planned_end":05:09"#,
            now: "05:19", minutes: 101),
        Case(
            testDescription: "the first of four rounds", fields: rounds,
            group: #""rounds":4,"counted":1200,"handled":480,"began":05:00,"planned_end":05:25"#,
            now: "05:10", minutes: 90),
        Case(
            testDescription: "a wait for the second of four rounds", fields: rounds,
            group:
                #""waits_from":05:25,"round":2,"rounds":4,"counted":9,"handled":9,"began":05:00,"planned_end":05:25"#,
            now: "05:20", minutes: 80),
        Case(
            testDescription: "a wait for the first round", fields: rounds,
            group: #""waits_from":05:00,"counted":0,"handled":0"#, now: "04:50", minutes: 110),
        Case(
            testDescription: "a rate, in the first stage", fields: slow,
            group: #""counted":1200,"handled":300,"began":05:00,"planned_end":23:00"#, now: "05:05",
            minutes: 25),
        Case(
            testDescription: "a rate, between two stages", fields: slow,
            group: #""gated_since":05:10,"counted":1200,"handled":600,"began":05:00,"planned_end":23:00"#,
            now: "05:15", minutes: 15),
        Case(
            testDescription: "a finished group", fields: window,
            group: #""finished":true,"counted":9,"handled":9"#, now: "06:00", minutes: nil),
    ]

    @Test(arguments: cases) func `the remaining time covers all stages and rounds`(one: Case) throws {
        let campaign = try campaign(
            #"{"segment":"all","payload":{"aps":{}},\#(one.fields)}"#)
        let progress = try #require(CampaignProgress(json: Array(Self.json(of: one).utf8)))
        let run = try CampaignStateMachine(
            campaign, id: "c", start: Self.time(one.now == "04:50" ? "04:50" : "05:00"), names: [String](),
            zones: TestZones.rules, progress: progress)
        let remaining = run.remaining(at: Self.time(one.now), released: 0)
        #expect(remaining.map { Double($0) / 60_000 } == one.minutes)
    }

    private static func time(_ clock: String) -> UTCTime { utc("2026-07-01T\(clock):00Z") }

    /// The progress of a run with one group.
    private static func json(of one: Case) -> String {
        var members = [#""stage":0,"needed":0,"sweeps":0,"cursor":[0,0,0,0]"#, one.group]
        if one.fields.contains("window") { members.append(#""zone":"UTC""#) }
        for (name, value) in [("round", 1), ("rounds", 1), ("began", 0), ("planned_end", 0)]
        where !one.group.contains("\"\(name)\"") {
            members.append("\"\(name)\":\(value)")
        }
        let text = "{\"groups\":[{\(members.joined(separator: ","))}]}"
        return text.replacing(/:([0-9]{2}:[0-9]{2})/) { ":\(time(String($0.output.1)).milliseconds)" }
    }
}
