@testable import RedisClient
@testable import StoreProtocol

/// Runs simulations one after the other on one Redis.
struct SimulationRun {
    /// A seed that failed, and how it came to that.
    struct Failure: Error, CustomStringConvertible {
        let seed: UInt64
        let profile: SimulationProfile
        let error: any Error
        let trace: [String]

        var description: String {
            """
            seed \(seed), \(profile): \(error)
            \(trace.joined(separator: "\n"))
            make simulate SEEDS=1 FIRST=\(seed) PROFILE=\(profile) shows it again.
            """
        }
    }

    static let turns = 600
    let redis: PrivateRedis

    init(_ variant: ScriptVariant = ScriptVariant(), timeout: Int32 = 30_000) throws {
        redis = try PrivateRedis(["--databases", "10"], timeout: timeout)
        var variant = variant
        variant.isTimed = true
        redis.variant = variant
    }

    /// - Returns: what the run had to do with, by kind of request.
    @discardableResult
    func run(seed: UInt64, _ profile: SimulationProfile, isTraced: Bool = false) throws -> [String: Int] {
        let simulation = try Simulation(redis, seed: seed, profile: profile, traced: isTraced)
        do {
            for _ in 0..<Self.turns { try simulation.step() }
            try simulation.finish()
        } catch {
            throw Failure(seed: seed, profile: profile, error: error, trace: simulation.trace ?? [])
        }
        return simulation.calls
    }

    /// As ``run(seed:_:isTraced:)``; when it fails, with all that happened.
    @discardableResult
    func explain(seed: UInt64, _ profile: SimulationProfile) throws -> [String: Int] {
        do { return try run(seed: seed, profile) } catch {
            try run(seed: seed, profile, isTraced: true)
            // The same seed must do the same: anything else is a fault of the simulation.
            throw error
        }
    }
}
