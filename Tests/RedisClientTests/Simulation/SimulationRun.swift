@testable import RedisClient
@testable import StoreProtocol

/// Runs simulations one after another on one Redis.
struct SimulationRun {
    /// The seed that failed, its error, and the events before the failure.
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

    /// - Returns: the number of calls by kind of request.
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

    /// Like ``run(seed:_:isTraced:)``. If the run fails, the failure contains the trace of all events.
    @discardableResult
    func explain(seed: UInt64, _ profile: SimulationProfile) throws -> [String: Int] {
        do { return try run(seed: seed, profile) } catch {
            try run(seed: seed, profile, isTraced: true)
            // The second run has the same seed, so it must fail like the first run. If the second run succeeds, the simulation
            // itself has a fault.
            throw error
        }
    }
}
