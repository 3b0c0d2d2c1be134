import Foundation
import RedisProtocol
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// Layer C of the proof: changes every line of every script, one at a time, and checks that a test fails
/// (docs/internals/proof.md, `make mutants`).
@Suite struct LineMutantTests {
    private static let environment = ProcessInfo.processInfo.environment

    /// If neither the cases nor the simulation notice a change, the test writes the changed script into a folder, so that other
    /// tests can try it.
    @Test(.enabled(if: environment["PUSHFARM_MUTANTS"] != nil))
    func `every changed line is noticed`() async throws {
        let folder = Self.environment["PUSHFARM_MUTANTS"] ?? ""
        let names = (Self.environment["PUSHFARM_MUTANTS_OF"] ?? "").split(separator: " ").map(String.init)
        let all = try names.flatMap { try LineMutant.all(of: $0) }
        let lanes = Int(Self.environment["PUSHFARM_JOBS"] ?? "2") ?? 2
        let counts = try await withThrowingTaskGroup(of: [Notice: Int].self) { group in
            for lane in 0..<lanes {
                group.addTask {
                    let bench = try MutantBench()
                    var counts: [Notice: Int] = [:]
                    for index in stride(from: lane, to: all.count, by: lanes) {
                        let notice = try bench.notice(of: all[index])
                        counts[notice, default: 0] += 1
                        if notice == .nobody { try Self.keep(all[index], in: "\(folder)/\(index)") }
                    }
                    return counts
                }
            }
            return try await group.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
        }
        print(
            "\(all.count) changes: \(Notice.allCases.map { "\($0) \(counts[$0] ?? 0)" }.joined(separator: ", "))"
        )
    }

    /// Writes the changed script to a folder that `PUSHFARM_SCRIPTS` can name.
    private static func keep(_ mutant: LineMutant, in folder: String) throws {
        let shared = SharedScript.allCases.map(\.rawValue)
        try FileManager.default.createDirectory(
            atPath: "\(folder)/Shared", withIntermediateDirectories: true)
        for name in Script.allCases.map(\.rawValue) + shared + ["submit"] {
            let text = name == mutant.name ? mutant.text : try ScriptFolder.file(name)
            let path = shared.contains(name) ? "\(folder)/Shared/\(name).lua" : "\(folder)/\(name).lua"
            try text.write(toFile: path, atomically: true, encoding: .utf8)
        }
        try "\(mutant)\n".write(toFile: "\(folder)/change", atomically: true, encoding: .utf8)
    }

    /// The kinds of tests that can notice a change.
    enum Notice: CaseIterable {
        case compiler, cases, simulation, nobody
    }
}

/// Tries changed scripts.
private final class MutantBench {
    private var redis: PrivateRedis
    private var run: SimulationRun
    private let cases: [(case: ScriptCase, lines: [String])]
    /// The time limit of a script in milliseconds. A change after which a script runs longer counts as noticed.
    private static let timeout: Int32 = 5_000
    /// The number of seeds that the simulation tries with each profile.
    private let seeds: UInt64

    private static let environment = ProcessInfo.processInfo.environment

    init() throws {
        let redis = try PrivateRedis(timeout: Self.timeout)
        self.redis = redis
        run = try SimulationRun(timeout: Self.timeout)
        seeds = UInt64(Self.environment["PUSHFARM_SEEDS"] ?? "2") ?? 2
        cases = try ScriptCase.all.map { ($0, try Effects.lines(of: $0, on: redis)) }
        for (one, lines) in cases where try !Self.isRight(one, lines, on: redis) {
            throw FailingCase(description: "\(one.testDescription) fails with the scripts as they are")
        }
    }

    /// The error for a script case that fails even with the unchanged scripts. With such a case, every change would count as
    /// noticed.
    private struct FailingCase: Error, CustomStringConvertible {
        let description: String
    }

    private static func isRight(_ one: ScriptCase, _ lines: [String], on redis: PrivateRedis) throws -> Bool {
        let once = try one.run(.once, on: redis)
        guard Effects.lines(of: once) == lines else { return false }
        let twice = try one.run(.twice, on: redis)
        guard one.again.changesMore || twice.after == once.after else { return false }
        return one.again.allows(twice.reply, after: once.reply)
    }

    /// - Throws: if the change could not be tried. A change that could not be tried counts neither as noticed nor as unnoticed.
    func notice(of mutant: LineMutant) throws -> LineMutantTests.Notice {
        var notice = Result<LineMutantTests.Notice, any Error>.success(.nobody)
        // The preparation of a case may fail, because it expects an effect that the changed script does not have.
        // Such a failure means that the case noticed the change.
        withKnownIssue(isIntermittent: true) { notice = Result { try check(mutant) } }
        return try notice.get()
    }

    private func check(_ mutant: LineMutant) throws -> LineMutantTests.Notice {
        // A script that does not end blocks its Redis forever, so the test starts a new Redis.
        if !redis.isReachable { redis = try PrivateRedis(timeout: Self.timeout) }
        if !run.redis.isReachable { run = try SimulationRun(timeout: Self.timeout) }
        redis.variant.change = mutant
        run.redis.variant.change = mutant
        for script in mutant.scripts {
            let reply = try redis.run(redis.variant.loadCommand(of: script))
            if reply.error != nil { return .compiler }
        }
        let scripts = Set(mutant.scripts)
        for (one, lines) in cases where scripts.contains(one.script) {
            guard (try? Self.isRight(one, lines, on: redis)) == true else { return .cases }
        }
        return run.notices(seeds: seeds) ? .simulation : .nobody
    }
}
