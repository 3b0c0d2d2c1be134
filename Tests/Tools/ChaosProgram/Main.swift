import Chaos
import EventLoop
import Foundation

/// `chaos-run [soak] [minutes=N] [seed=N] [only=N,N] [keep=FOLDER]` breaks farms for N minutes and counts lost pushes.
/// With `soak` it runs one farm for N minutes and measures which resources grow.
@main
enum Main {
    static func main() throws {
        signal(SIGPIPE, SIG_IGN)
        var words: [String: String] = [:]
        for argument in CommandLine.arguments.dropFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
            words[parts[0]] = parts.count > 1 ? parts[1] : ""
        }
        let minutes = words["minutes"].flatMap { Double($0) } ?? 10
        let seed = words["seed"].flatMap { UInt64($0) } ?? UInt64.random(in: 1...99_999)
        let only = Set((words["only"] ?? "").split(separator: ",").compactMap { Int($0) })
        let keep = words["keep"] ?? ".build/chaos"
        let isGood = try Loop.run { @Loop in
            if words["soak"] != nil {
                return try await SoakRun(minutes: minutes, seed: seed, folder: words["keep"] ?? ".build/soak")
                    .run()
            }
            return await ScenarioSeries(minutes: minutes, seed: seed, only: only, keep: keep).run()
        }
        exit(isGood ? 0 : 1)
    }
}
