import Foundation
import Testing

@testable import FarmStore

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

    static let turns = 1200
    private let redis: PrivateRedis

    init(files: [String: [UInt8]]? = nil) throws {
        redis = try PrivateRedis(["--databases", "8"])
        redis.variant.isTimed = true
        if let files { redis.variant.files = files }
    }

    /// Whether all scripts are Lua.
    func loads() throws -> Bool {
        try Script.allCases.allSatisfy { try redis.run(redis.variant.loadCommand(of: $0)).error == nil }
    }

    /// - Returns: what the run had to do with, by kind of request.
    @discardableResult
    func run(seed: UInt64, _ profile: SimulationProfile, traced: Bool = false, explained: Bool = true) throws
        -> [String: Int]
    {
        let simulation = try Simulation(redis, seed: seed, profile: profile, traced: traced)
        do {
            for _ in 0..<Self.turns { try simulation.step() }
            try simulation.finish()
        } catch {
            guard explained else { throw error }
            guard !traced else {
                throw Failure(seed: seed, profile: profile, error: error, trace: simulation.trace ?? [])
            }
            try run(seed: seed, profile, traced: true)
            // The same seed must do the same: anything else is a fault of the simulation.
            throw Failure(seed: seed, profile: profile, error: error, trace: ["it did not fail again"])
        }
        return simulation.calls
    }
}
