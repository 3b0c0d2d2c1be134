import DeviceSimulation
import EventLoop
import Foundation
import Simulator
import Testing

@Suite struct DevicesTests {
    private static let background = [("apns-push-type", "background"), ("apns-priority", "5")]
    private static let payload = #"{"aps":{"content-available":1},"edition":"ed-1"}"#

    /// Options with devices that start the app for each push at once. For the devices, time passes 1,000 times as fast, so a
    /// simulated night takes less than a minute.
    private static func options(
        _ change: (inout DeviceProfile) -> Void = { _ in }, also: (inout SimulatorOptions) -> Void = { _ in }
    ) -> SimulatorOptions {
        .with { options in
            var profile = DeviceProfile()
            profile.delay.p50 = .zero
            profile.bandwidth.spread = 1
            change(&profile)
            var population = DevicePopulation()
            population.timeFactor = 1000
            population.profiles = [.init(name: "test", profile: profile)]
            options.devices = population
            also(&options)
        }
    }

    @Test func `an accepted background push leads to a wake-up, a request and a done report`() async throws {
        let file = NSTemporaryDirectory() + "pushfarm-done-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: file) }
        try await TestGateway.run(Self.options(also: { $0.doneFile = file })) { test in
            let client = try await test.connectAndStart()
            _ = try await client.push(body: Self.payload, Self.background)
            _ = try await client.push(
                token: "bad00000" + TestClient.token, body: Self.payload, Self.background)
            let devices = try await test.untilDevices { $0["done"] as? Int == 1 }
            #expect(devices["devices"] as? Int == 1)
            #expect(devices["shown_alerts"] as? Int == 1 && devices["background_pushes"] as? Int == 1)
            #expect(devices["wake_ups"] as? Int == 1 && devices["api_requests"] as? Int == 1)
            let editions = devices["editions"] as? [[String: Any]]
            #expect(editions?.first?["edition"] as? String == "ed-1")
            #expect(editions?.first?["done_by_sends"] as? [String: Int] == ["1": 1])
            let minutes = try await test.control("devices minutes")["minutes"] as? [[String: Any]]
            #expect(minutes?.compactMap { $0["wake_ups"] as? Int }.reduce(0, +) == 1)
            let report = try await test.control("devices done 0 10")
            let done = (report["done"] as? [[String: Any]])?.first
            #expect(done?["token"] as? String == TestClient.token && done?["sends"] as? Int == 1)
            #expect(report["next"] as? Int == 1)
            #expect((try await test.control("devices done 1")["done"] as? [Any])?.isEmpty == true)
            let line =
                try JSONSerialization.jsonObject(
                    with: Data(contentsOf: URL(fileURLWithPath: file))) as? [String: Any]
            #expect(line?["edition"] as? String == "ed-1" && line?["token"] as? String == TestClient.token)
        }
    }

    @Test func `a push whose response is lost reaches the device, and a push that is not processed does not`()
        async throws
    {
        try await TestGateway.run(Self.options()) { test in
            let client = try await test.connectAndStart()
            _ = try await test.control("reset 100% processed")
            _ = try await client.push(body: Self.payload, Self.background)
            _ = try await test.control("reset 100%")
            _ = try await client.push(body: Self.payload, Self.background)
            let devices = try await test.control("devices")
            #expect(devices["background_pushes"] as? Int == 1)
        }
    }

    @Test func `an expiration is a time of the gateway, and the time factor applies to it`() async throws {
        try await TestGateway.run(Self.options({ $0.wifi = HourlyShare(0) })) { test in
            let client = try await test.connectAndStart()
            let soon = Int(Date().timeIntervalSince1970) + 2
            _ = try await client.push(
                token: "01" + TestClient.token, body: Self.payload,
                Self.background + [("apns-expiration", "\(soon)")])
            _ = try await client.push(
                token: "02" + TestClient.token, body: Self.payload,
                Self.background + [("apns-expiration", "\(soon + 3600)")])
            _ = try await client.push(
                token: "03" + TestClient.token, body: Self.payload,
                Self.background + [("apns-expiration", "0")])
            let devices = try await test.untilDevices {
                ($0["discarded"] as? [String: Int])?["expired"] == 1
            }
            #expect((devices["discarded"] as? [String: Int])?["not_stored"] == 1)
            #expect((devices["discarded"] as? [String: Int])?.values.reduce(0, +) == 2)
            // A device that still has a push waits for the next hourly change of its conditions. These are the device with the
            // alert of the start and the device whose push has not expired.
            #expect(devices["future_events"] as? Int == 2)
        }
    }

    @Test func `collapse id, priority 1, mutable-content and other keys reach the device`() async throws {
        let options = Self.options(
            { $0.wake.wifiCharging = 0 }, also: { $0.devices?.editionKey = "campaign" })
        try await TestGateway.run(options) { test in
            let client = try await test.connectAndStart()
            let payload = #"{"aps":{"content-available":1},"campaign":["a","b"]}"#
            for id in ["x", "x", "y"] {
                _ = try await client.push(body: payload, Self.background + [("apns-collapse-id", id)])
            }
            _ = try await client.push(
                token: "04" + TestClient.token, body: payload,
                [("apns-push-type", "background"), ("apns-priority", "1")])
            let visible = #"{"aps":{"alert":"Hi","mutable-content":1},"campaign":"c"}"#
            _ = try await client.push(body: visible, [])
            _ = try await client.push(body: #"{"aps":{}}"#, Self.background)
            let devices = try await test.untilDevices { $0["done"] as? Int == 1 }
            let discarded = devices["discarded"] as? [String: Int]
            #expect(discarded?["collapsed"] == 1 && discarded?["superseded"] == 1 && discarded?["empty"] == 1)
            #expect(devices["extension_runs"] as? Int == 1 && devices["wake_ups"] as? Int == 0)
            let names = (devices["editions"] as? [[String: Any]])?.map { $0["edition"] as? String }
            #expect(names == ["a", "b", "c"])
        }
    }

    @Test(arguments: ["devices", "devices minutes", "devices done"])
    func `a simulator without devices says how to get them`(command: String) async throws {
        try await TestGateway.run { test in
            let reply = try await test.control(command)
            #expect(reply["ok"] as? Bool == false)
            #expect((reply["error"] as? String)?.contains("--devices") == true)
        }
    }

    @Test(arguments: [
        "devices all", "devices done x", "devices done 0 0", "devices done 0 99999", "devices done 0 1 2",
    ])
    func `an invalid command about devices is refused`(command: String) async throws {
        try await TestGateway.run(Self.options()) { test in
            let reply = try await test.control(command)
            #expect(reply["ok"] as? Bool == false)
        }
    }
}

extension TestGateway {
    /// Polls the report about the devices until a condition is true, and returns the report.
    fileprivate func untilDevices(_ isTrue: ([String: Any]) -> Bool) async throws -> [String: Any] {
        let limit = ContinuousClock.now + .seconds(60)
        while true {
            let devices = try await control("devices")
            if isTrue(devices) { return devices }
            guard ContinuousClock.now < limit else { throw Unexpected(what: "\(devices)") }
        }
    }
}
