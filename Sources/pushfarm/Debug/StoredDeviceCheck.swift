import EventLoop
import RedisClient
import Registry
import StoreProtocol

/// Compares the records of an app's stored devices with indexes, bitmaps and counts, and corrects these.
@Loop struct StoredDeviceCheck {
    let app: String
    let client: FarmClient

    /// How often the check reads the registry before it counts a fault, if the registry changes meanwhile.
    private static let passes = 3
    /// The most repair passes. A repair may uncover another fault.
    private static let rounds = 5

    /// The faults as texts, or empty if everything agrees with the records.
    func faults() async throws(CommandFailure) -> [String] { try await check().faults }

    /// The farm changes the registry while the check reads it, so a fault counts only if several checks find it, or if the
    /// registry did not change during the check.
    ///
    /// - Returns: also the damage that a repair can correct, if there is a fault.
    private func check() async throws(CommandFailure) -> (faults: [String], damage: RegistryDamage) {
        let reader = try await client.registry(of: app)
        var common: [String]?
        var damage = RegistryDamage()
        for _ in 0..<Self.passes {
            let result = try await client.read { () throws(StoreError) in try await reader.check() }
            common = common.map { $0.filter(result.faults.contains) } ?? result.faults
            damage = result.damage
            guard result.hasChanged, common?.isEmpty == false else { break }
        }
        guard let common, !common.isEmpty else { return ([], RegistryDamage()) }
        return (common.map { "registry: \($0)" }, damage)
    }

    /// Corrects what disagrees with the records, until a check finds nothing that can be corrected.
    ///
    /// - Returns: the repairs as texts.
    func repair() async throws(CommandFailure) -> [String] {
        var done: [String] = []
        let repair = RegistryRepair(try await client.registry(of: app))
        for _ in 0..<Self.rounds {
            let damage = try await check().damage
            if damage.isEmpty { break }
            let texts = try await client.read { () throws(StoreError) in try await repair.repair(damage) }
            if texts.isEmpty { break }
            done += texts
        }
        return done
    }
}
