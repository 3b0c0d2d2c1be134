import BenchKit
import FarmHarness
import Foundation

/// Runs all cases in turn, round by round, so that a disturbance of the machine affects all cases.
package struct BenchRun {
    private let cases: [any BenchCase]
    private let plan: BenchPlan
    private let cores: Cores
    private let say: (String) -> Void

    package init(
        _ cases: [any BenchCase], _ plan: BenchPlan, _ cores: Cores, say: @escaping (String) -> Void
    ) {
        (self.cases, self.plan, self.cores, self.say) = (cases, plan, cores, say)
    }

    package func run() async throws -> [BenchFinding] {
        let complaints = try await verifyCases()
        var rounds: [String: [Round]] = [:]
        for number in 0..<plan.rounds {
            for one in cases where number == 0 || !one.isOnce {
                let start = ContinuousClock.now
                var round = try await one.round(number, plan, cores)
                if number == 0 { round.broken += complaints[one.key] ?? [] }
                rounds[one.key, default: []].append(round)
                let time = (ContinuousClock.now - start).seconds.time
                let shareOfOthers = BenchTable.percent(round.shareOfOthers)
                say("round \(number + 1), \(one.key): \(time), others \(shareOfOthers)")
                for complaint in round.broken { say("    BROKEN: \(complaint)") }
            }
        }
        return cases.map { BenchFinding(key: $0.key, title: $0.title, $0.measures, rounds[$0.key] ?? []) }
    }

    /// Runs a twentieth of each case with a slow simulator that checks every token.
    private func verifyCases() async throws -> [String: [String]] {
        var complaints: [String: [String]] = [:]
        var rehearsal = plan
        (rehearsal.divisor, rehearsal.isRehearsal) = (max(20, plan.divisor), true)
        for one in cases where one.isRehearsed {
            complaints[one.key] = try await one.round(0, rehearsal, cores).broken.map { "rehearsal: " + $0 }
        }
        return complaints
    }

    package static func setting(_ cores: Cores, command: String) async throws -> BenchSetting {
        try await BenchSetting(
            machine: Machine.processor, memory: Machine.memory, kernel: Machine.kernel, day: Machine.day,
            versions: [
                "h2load": word(1, of: Machine.version("h2load", "--version")),
                "redis-server": word(2, of: Machine.version("redis-server", "--version")),
                "openssl": word(1, of: Machine.version("openssl", "version")),
                "swift": Machine.version("swift", "--version"),
            ], cores: cores.numbers, command: command)
    }

    private static func word(_ place: Int, of line: String) -> String {
        let words = line.split(separator: " ")
        return words.count > place ? String(words[place]) : line
    }
}
