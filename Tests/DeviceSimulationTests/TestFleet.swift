import PushModel

@testable import DeviceSimulation

/// A fleet whose devices have the same profile. A test identifies a device by a number. By default, every device is on Wi-Fi and
/// charges, and each push starts the app at once. The download of an edition begins 1.5 s later and takes 12 s.
struct TestFleet {
    var fleet: SimulatedFleet

    init(
        startsAt: Duration = .zero, seed: UInt64 = 1, kilobytes: UInt32 = 30_000,
        _ change: (inout DeviceProfile) -> Void = { _ in }
    ) {
        var profile = DeviceProfile()
        profile.delay.p50 = .zero
        profile.bandwidth.spread = 1
        profile.resumes = 1
        change(&profile)
        var population = DevicePopulation()
        population.startsAt = startsAt
        population.seed = seed
        population.editionKilobytes = kilobytes
        population.profiles = [DevicePopulation.Named(name: "test", profile: profile)]
        fleet = SimulatedFleet(population)
    }

    /// The token of a device: its number in 32 bytes.
    static func token(_ device: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 32)
        for place in 0..<8 { bytes[31 - place] = UInt8(truncatingIfNeeded: device >> (8 * place)) }
        return bytes
    }

    /// The test's number of a device of the fleet.
    func number(of device: UInt32) -> Int { Int(fleet.token(of: device), radix: 16)! }

    func conditions(_ device: Int = 0) -> DeviceConditions {
        DeviceConditions(
            DeviceDraw(hash: XXH64.hash(Self.token(device), seed: fleet.population.seed)),
            fleet.population.profiles[0].profile, startsAt: fleet.population.startsAt)
    }

    /// Sends a push at `time`. Returns all actions of the devices up to this time, including the actions that the push causes at
    /// once.
    @discardableResult
    mutating func push(
        _ kind: SimulatedPush.Kind = .background, _ editions: [String] = ["e"], to device: Int = 0,
        at time: ModelTime,
        _ change: (inout SimulatedPush) -> Void = { _ in }
    ) -> [DeviceAction] {
        var push = SimulatedPush(kind)
        push.editions = fleet.editionList(editions)
        change(&push)
        let actions = Self.token(device).withUnsafeBytes { fleet.receive(push, token: $0, at: time) }
        return actions + fleet.advance(to: time)
    }

    mutating func advance(to time: ModelTime) -> [DeviceAction] { fleet.advance(to: time) }
}

extension ModelTime {
    static func seconds(_ seconds: Double) -> ModelTime { ModelTime(tenths: UInt32(seconds * 10)) }

    /// A tenth of a second before this time.
    var justBefore: ModelTime { ModelTime(tenths: tenths - 1) }

    static func + (time: ModelTime, seconds: Double) -> ModelTime {
        time.advanced(by: UInt32(seconds * 10))
    }
}

extension [DeviceAction] {
    var kinds: [DeviceAction.Kind] { map(\.kind) }
    var wakeUps: [ModelTime] { filter { $0.kind == .start(.wakeUp) }.map(\.time) }
    var discards: [DeviceAction.Discard] {
        compactMap { if case .discard(let reason) = $0.kind { reason } else { nil } }
    }
    /// The devices that are done. `sends` is the number of pushes that were sent to the device before it was done.
    var done: [(device: UInt32, sends: UInt8, time: ModelTime)] {
        compactMap { if case .done(_, let sends) = $0.kind { ($0.device, sends, $0.time) } else { nil } }
    }
}

extension HourlyShare {
    /// The share 1 in some hours, and 0 in all others.
    static func only(_ hours: some Collection<Int>) -> HourlyShare {
        HourlyShare(hours: (0..<HourlyShare.hours).map { hours.contains($0) ? 1 : 0 })
    }
}
