import Foundation
import Testing

@testable import FarmStore

/// Reliability plan, layer B: the books after every script, whatever goes wrong.
@Suite struct SimulationTests {
    /// Seeds of each profile in a run of all tests.
    private static let seeds = UInt64(1)...10

    @Test(arguments: SimulationProfile.all)
    func `the books are exact whatever happens`(profile: SimulationProfile) throws {
        let run = try SimulationRun()
        for seed in Self.seeds {
            let calls = try run.run(seed: seed, profile)
            // It must have been at work while things went wrong, not only afterwards.
            #expect(calls["Settle", default: 0] > 5 && calls["Report", default: 0] > 20)
        }
    }

    @Test(arguments: Mutant.all) func `a fault in a script is noticed`(mutant: Mutant) throws {
        let run = try SimulationRun(files: mutant.files)
        let isNoticed = (1...6).contains { seed in
            [SimulationProfile.quiet, .kills].contains { profile in
                do {
                    try run.run(seed: UInt64(seed), profile, explained: false)
                    return false
                } catch {
                    return true
                }
            }
        }
        #expect(isNoticed, "\(mutant) went unnoticed")
    }

    private static let environment = ProcessInfo.processInfo.environment

    /// `make simulate`.
    @Test(.enabled(if: environment["PUSHFARM_SEEDS"] != nil))
    func `many seeds`() async throws {
        func number(_ name: String) -> UInt64? { Self.environment[name].flatMap { UInt64($0) } }
        let first = number("PUSHFARM_FIRST_SEED") ?? 1
        let seeds = first..<first + (number("PUSHFARM_SEEDS") ?? 1)
        let wanted = Self.environment["PUSHFARM_PROFILE"] ?? ""
        let profiles = SimulationProfile.all.filter { wanted.isEmpty || $0.name == wanted }
        let work = seeds.flatMap { seed in profiles.map { (seed, $0) } }
        let lanes = Int(number("PUSHFARM_JOBS") ?? UInt64(ProcessInfo.processInfo.activeProcessorCount))
        let started = ContinuousClock.now
        let failures = try await withThrowingTaskGroup(of: Int.self) { group in
            for lane in 0..<lanes {
                group.addTask {
                    let run = try SimulationRun()
                    var failures = 0
                    for index in stride(from: lane, to: work.count, by: lanes) {
                        do {
                            try run.run(seed: work[index].0, work[index].1)
                        } catch {
                            failures += 1
                            print("FAILED \(work[index].1) \(work[index].0): \(error)\n")
                        }
                    }
                    return failures
                }
            }
            return try await group.reduce(0, +)
        }
        print(
            "\(work.count) runs of \(SimulationRun.turns) turns in \(ContinuousClock.now - started), \(failures) failed"
        )
        #expect(failures == 0)
    }

    /// `make mutants`, first part: what no simulation notices is written into a folder, for the other tests.
    @Test(.enabled(if: environment["PUSHFARM_MUTANTS"] != nil))
    func `every changed line is noticed`() async throws {
        let folder = Self.environment["PUSHFARM_MUTANTS"] ?? ""
        let wanted = Self.environment["PUSHFARM_MUTANTS_OF"] ?? ""
        let mutants = LineMutant.all.filter { wanted.isEmpty || $0.name == wanted }
        let lanes = ProcessInfo.processInfo.activeProcessorCount
        let counts = try await withThrowingTaskGroup(of: (caught: Int, invalid: Int).self) { group in
            for lane in 0..<lanes {
                group.addTask {
                    var (caught, invalid) = (0, 0)
                    for index in stride(from: lane, to: mutants.count, by: lanes) {
                        let run = try SimulationRun(files: mutants[index].files)
                        if try !run.loads() {
                            invalid += 1
                        } else if Self.isNoticed(run) {
                            caught += 1
                        } else {
                            try Self.keep(mutants[index], in: "\(folder)/\(index)")
                        }
                    }
                    return (caught, invalid)
                }
            }
            return try await group.reduce((0, 0)) { ($0.0 + $1.caught, $0.1 + $1.invalid) }
        }
        print("\(mutants.count) mutants: \(counts.1) are no Lua, \(counts.0) caught by simulation")
    }

    private static func isNoticed(_ run: SimulationRun) -> Bool {
        [(UInt64(1), SimulationProfile.quiet), (1, .kills), (1, .rollBacks), (2, .kills)].contains {
            seed, profile in
            do {
                try run.run(seed: seed, profile, explained: false)
                return false
            } catch {
                return true
            }
        }
    }

    private static func keep(_ mutant: LineMutant, in folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(mutant.text).write(to: URL(fileURLWithPath: "\(folder)/\(mutant.name).lua"))
        try Data("\(mutant)\n".utf8).write(to: URL(fileURLWithPath: "\(folder)/change"))
    }
}
