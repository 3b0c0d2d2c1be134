import FarmHarness
import Testing

/// The metrics of stored devices and campaigns.
@Suite(.startsProcesses) struct CampaignMetricsTests {
    @Test func `the metrics equal the counts of the registry and of the campaigns`() async throws {
        let farm = try await Farm(.init(lines: [MetricsTests.listen]))
        _ = try await farm.ready()
        let app = ["app": "demo"]
        let tokens = Tokens.make(300, seed: 71)
        let valid = tokens.enumerated().map { #"{"id":"d-\#($0)","user":"u-\#($0 / 10)","token":"\#($1)"}"# }
        try farm.push(devices: valid + [#"{"id":"bad","token":"no"}"#, #"{"id":"none","user":"u-0"}"#])
        try await farm.devicesFinished()
        let first = try await eventually("the inputs are counted") {
            let scrape = try farm.scrape()
            return scrape.sum("pushfarm_device_inputs_total", app) == 302 ? scrape : nil
        }
        let results = first.sums("pushfarm_device_inputs_total", by: "result", app)
        #expect(results == ["applied": 300, "refused": 2])
        #expect(first.sum("pushfarm_registry_up", app) == 1)

        try farm.push(campaign: #"{"id":"c","segment":"all","rate":9000,"payload":{"aps":{"alert":"Hi"}}}"#)
        _ = try await farm.finishedCampaign("c")
        try farm.push(campaign: #"{"id":"slow","segment":"all","rate":1,"payload":{"aps":{"alert":"Hi"}}}"#)
        try farm.redis.client().run(
            "RPUSH", "pushfarm:demo",
            #"{"id":"named","users":["u-1","u-2"],"payload":{"aps":{"alert":"Hi"}}}"#)
        #expect(try await farm.finished("named").delivered == 20)
        let second = try await eventually("the campaigns and the devices are counted") {
            let scrape = try farm.scrape()
            return scrape.sum("pushfarm_devices", app) == 300
                && scrape.sum("pushfarm_alive_devices", app) == 300
                && scrape.sum("pushfarm_campaigns", ["state": "running"]) == 1
                && scrape.sum("pushfarm_campaign_devices_total", ["count": "accepted"]) >= 300
                ? scrape : nil
        }
        #expect(second.sum("pushfarm_recipient_lookups_total", app) == 2)
        #expect(second.sum("pushfarm_late_campaigns", app) == 0)
        #expect(second.sum("pushfarm_waiting_inputs", app) == 0)

        #expect(try await farm.run("campaigns", "pause", "slow", "--app", "demo").status == 0)
        try await eventually("the pause is counted") {
            let states = try farm.scrape().sums("pushfarm_campaigns", by: "state", app)
            return states == ["scheduled": 0, "running": 0, "paused": 1]
        }
        #expect(try await farm.run("cancel", "slow", "--app", "demo").status == 0)
    }
}
