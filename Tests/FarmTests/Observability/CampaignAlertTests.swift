import Campaigns
import FarmHarness
import Foundation
import Testing

/// The alert of a campaign that cannot finish in its window.
@Suite(.startsProcesses(limit: .seconds(240))) struct CampaignAlertTests {
    @Test func `a campaign is late while the gateway fails, but not while an operator pauses it`()
        async throws
    {
        let tokens = Tokens.make(6_000, seed: 61)
        // With the time factor, the rate is measured over seconds.
        let farm = try await Farm(
            .init(faults: ["answer 503"], environment: ["PUSHFARM_TIME_FACTOR": "30"]))
        _ = try await farm.ready()
        try farm.push(devices: tokens.enumerated().map { #"{"id":"d-\#($0)","token":"\#($1)"}"# })
        try await farm.devicesFinished()
        let minute = Int(Date().timeIntervalSince1970) / 60 % 1440
        func clock(_ minute: Int) -> String {
            String(format: "%02d:%02d", (minute + 1440) % 1440 / 60, (minute + 1440) % 60)
        }
        // One to two minutes of the window are left.
        let window = #"{"from":"\#(clock(minute - 20))","to":"\#(clock(minute + 2))","zone":"UTC"}"#
        try farm.push(
            campaign: #"{"id":"c","segment":"all","window":\#(window),"payload":{"aps":{"alert":"Hi"}}}"#)
        // Other alerts fire too, because the gateway fails.
        func alert(_ type: String) async throws -> [String: String] {
            try await eventually("\(type) of campaign_late") {
                try farm.events(type).first { $0["alert"] == "campaign_late" }
            }
        }
        let fired = try await alert("alert.fired")
        #expect(fired["text"]?.contains("campaign c is late") == true, "\(fired)")
        #expect(fired["text"]?.contains("do not fit into the remaining") == true, "\(fired)")
        #expect(try await farm.run("status", "--json").output.contains("campaign_late"))

        #expect(try await farm.run("campaigns", "pause", "c", "--app", "demo").status == 0)
        _ = try await alert("alert.cleared")
        try farm.gateway.control("answer off")
        #expect(try await farm.run("cancel", "c", "--app", "demo").status == 0)
        let job = try await farm.finished("c")
        #expect(job.delivered + job.cancelled + job.expired == job.accepted)
        #expect(try farm.events("alert.fired").count { $0["alert"] == "campaign_late" } == 1)
        #expect(try farm.campaign("c")?.state == .cancelled)
    }
}
