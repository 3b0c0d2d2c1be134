import BenchKit
import FarmBench
import Foundation

/// `farm-bench [rounds=N] [only=KEY,KEY] [keep=FOLDER] [cores=N,N] [divisor=N] [devices=N] [quick]` measures the farm and h2load at
/// the same simulator. With `divisor`, each measurement has fewer pushes by this factor; `quick`, for the tests of the bench, is one
/// round with the divisor 100. `devices` is the number of stored devices of the case `campaign`.
///
/// `farm-bench guard [record] [file=FILE]` compares the worker's instructions per push with the recorded counts.
/// `farm-bench profile` shows where the worker spends its time.
///
/// `farm-bench draw=FILE keep=FOLDER` draws the table and the picture again from FILE, the `bench.json` of an earlier run.
@main
enum Main {
    static func main() async throws {
        signal(SIGPIPE, SIG_IGN)
        let words = Words(CommandLine.arguments.dropFirst())
        if words.has("guard") {
            let isGood = try await GuardCommand.run(
                words["file"] ?? "Tests/Tools/FarmBench/HotPath/recorded.json",
                isRecording: words.has("record"))
            exit(isGood ? 0 : 1)
        }
        let folder = words["keep"] ?? ".build/bench"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let chosen = words.list("cores").compactMap { Int($0) }
        let cores = chosen.isEmpty ? Cores() : Cores(chosen)
        try await cores.keep()
        if let file = words["draw"] {
            let data = try Data(contentsOf: URL(fileURLWithPath: file))
            return try JSONDecoder().decode(BenchReport.self, from: data).write(to: folder)
        }
        if words.has("profile") {
            let lines = try await ProfileRun(cores).lines()
            for line in lines { say(line) }
            return
        }
        let cases = BenchCases.named(words.list("only"))
        guard Set(words.list("only")).isSubset(of: BenchCases.all.map(\.key)) else {
            say("there are \(BenchCases.all.map(\.key).joined(separator: ", "))")
            exit(2)
        }
        var plan = BenchPlan(rounds: words.number("rounds").map { Int($0) } ?? 5, folder: folder)
        if words.has("quick") { (plan.rounds, plan.divisor) = (1, 100) }
        if let divisor = words.number("divisor") { plan.divisor = max(1, Int(divisor)) }
        plan.devices = words.number("devices").map { Int($0) }
        let command = (["farm-bench"] + CommandLine.arguments.dropFirst()).joined(separator: " ")
        let setting = try await BenchRun.setting(cores, command: command)
        let report = BenchReport(setting, try await BenchRun(cases, plan, cores, say: say).run())
        try report.write(to: folder)
        say("\n" + report.text)
        say("figures, table and picture: \(folder)/bench.json, bench.txt, bench.svg")
        exit(report.missed.isEmpty ? 0 : 1)
    }

    static func say(_ line: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }
}
