import DeviceSimulation
import FarmHarness
import Foundation
import Testing

@testable import FarmConfiguration

struct DeviceModelFileTests {
    private func read(_ text: String) throws(ConfigurationError) -> DevicePopulation {
        try DevicePopulation.read(text, file: "devices.yaml")
    }

    @Test func `every key is read`() throws {
        let population = try read(
            """
            time_factor: 60
            starts_at: 03:30
            edition_key: campaign
            edition_size: 1.5MB
            most_devices: 7
            profiles:
              a:
                share: 25%
                wifi: [00-06 50%, 6-24 0.25]
                cellular: 0.5
                charging: 100%
                low_power: [0-24 10%]
                opens: [0-23 0, 23-24 1]
                open_for: 1m30s
                force_quit: 5%
                allowance: 2
                daily_budget: 5m
                wake: { wifi_charging: 90%, wifi: 0.8, cellular_charging: 70%, cellular: 60% }
                delay: { p50: 1s, p99: 1m }
                bandwidth: { wifi: 10M, cellular: 500k, spread: 4 }
                ask_time: 2s
                resumes: 30%
              b: { share: 75% }
            """)
        var a = DeviceProfile()
        a.share = 0.25
        a.wifi = HourlyShare(hours: (0..<24).map { $0 < 6 ? 0.5 : 0.25 })
        a.cellular = HourlyShare(0.5)
        a.lowPower = HourlyShare(0.1)
        a.opens = HourlyShare(hours: (0..<24).map { $0 < 23 ? 0 : 1 })
        a.openFor = .seconds(90)
        a.forceQuit = 0.05
        a.allowance = 2
        a.dailyBudget = .seconds(300)
        (a.wake.wifiCharging, a.wake.wifi, a.wake.cellularCharging, a.wake.cellular) = (0.9, 0.8, 0.7, 0.6)
        (a.delay.p50, a.delay.p99) = (.seconds(1), .seconds(60))
        (a.bandwidth.wifi, a.bandwidth.cellular, a.bandwidth.spread) = (10e6, 500e3, 4)
        a.askTime = .seconds(2)
        a.resumes = 0.3
        var b = DeviceProfile()
        b.share = 0.75
        var expected = DevicePopulation()
        expected.timeFactor = 60
        expected.startsAt = .seconds(12_600)
        expected.editionKey = "campaign"
        expected.editionKilobytes = 1500
        expected.mostDevices = 7
        expected.profiles = [.init(name: "a", profile: a), .init(name: "b", profile: b)]
        #expect(population == expected)
    }

    @Test(
        arguments: [
            ("", "profiles: the model has no profile"),
            ("profiles:\n", "devices.yaml:1: profiles: the model has no profile"),
            ("time_facter: 2", "devices.yaml:1: time_facter: unknown key; did you mean time_factor?"),
            ("planet: 2", "devices.yaml:1: planet: unknown key; deploy/devices.yaml shows all keys"),
            (
                "profiles: {a: {alowance: 2}}",
                "devices.yaml:1: profiles.a.alowance: unknown key; did you mean allowance?"
            ),
            (
                "profiles:\n  a:\n    wake: { wify: 2% }",
                "devices.yaml:3: profiles.a.wake.wify: unknown key; did you mean wifi?"
            ),
            (
                "profiles: {a: {allowance: many}}",
                "devices.yaml:1: profiles.a.allowance: expected a whole number from 0 to 60, found text \"many\""
            ),
            (
                "profiles: {a: {force_quit: 101%}}",
                "devices.yaml:1: profiles.a.force_quit: expected a share such as 5% or 0.05, found \"101%\""
            ),
            (
                "profiles: {a: {wifi: [00-06 50%]}}",
                "devices.yaml:1: profiles.a.wifi: has no share for the hour from 6:00"
            ),
            (
                "profiles: {a: {wifi: [00-07 50%, 06-24 1]}}",
                "devices.yaml:1: profiles.a.wifi: has two shares for the hour from 6:00"
            ),
            (
                "profiles: {a: {wifi: [00-25 50%]}}",
                "devices.yaml:1: profiles.a.wifi: expected a share such as 40%, or a list such as "
                    + "[00-06 95%, 06-24 40%], found \"00-25 50%\""
            ),
            (
                "profiles: {a: {share: 50%}, b: {share: 49%}}",
                "devices.yaml:1: profiles: the shares of the profiles have the sum 99.0%, not 100%"
            ),
            (
                "profiles: {a: {wifi: 60%, cellular: [0-20 30%, 20-24 50%]}}",
                "devices.yaml:1: profiles.a.cellular: wifi and cellular exceed 100% in the hour from 20:00"
            ),
            (
                "profiles: {a: {delay: {p50: 2m, p99: 1m}}}",
                "devices.yaml:1: profiles.a.delay: p99 is below p50"
            ),
            (
                "starts_at: 3:00\nprofiles: {a: {}}",
                "devices.yaml:1: starts_at: expected a time of day such as 03:30, found \"3:00\""
            ),
            (
                "edition_size: 30\nprofiles: {a: {}}",
                "devices.yaml:1: edition_size: expected a size from 1kB to 10GB, such as 30MB, found \"30\""
            ),
            ("profiles: [a]", "devices.yaml:1: profiles: expected names with their keys, found a list"),
        ])
    func `an error names the place, the key and the reason`(text: String, description: String) {
        let error = #expect(throws: ConfigurationError.self) { try read(text) }
        #expect(error?.description == description)
    }

    @Test func `more than 64 profiles are refused`() {
        let names = (0..<65).map { "  p\($0): {share: 0}" }.joined(separator: "\n")
        let error = #expect(throws: ConfigurationError.self) { try read("profiles:\n" + names) }
        #expect(error?.description == "devices.yaml:1: profiles: has more than 64 profiles")
    }

    @Test func `the sample is read and has every key`() throws {
        let text = try Repository.text(of: DevicePopulation.sample)
        let population = try read(text)
        #expect(population.profiles.map(\.name) == ["charging-at-night", "charging-by-day", "tablet"])
        for key in DevicePopulation.keys.map(\.path) + DevicePopulation.profileKeys.map(\.path) {
            #expect(text.contains(try Regex("\\b\(key.parts.last!):")), "\(key)")
        }
    }
}
