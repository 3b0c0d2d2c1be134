import BenchKit
import Foundation

/// `newspaper-nights [devices=N] [factor=N] [model=FILE] [keep=FILE]` plays five nights in which a newspaper sends an edition to
/// N devices: with at most 1, 2, 3 and 4 pushes to a device in cohorts, and with 4 pushes without cohorts. All durations are
/// divided by `factor`. Prints a table, and writes a picture to the file.
@main
enum Main {
    static func main() async throws {
        signal(SIGPIPE, SIG_IGN)
        let words = Words(CommandLine.arguments.dropFirst())
        let plan = NewspaperPlan(
            devices: max(1, Int(words.number("devices") ?? 1_000_000)),
            factor: max(1, Int(words.number("factor") ?? 60)), model: words["model"] ?? "deploy/devices.yaml")
        let farm = try await NewspaperFarm(plan, say: say)
        var results: [NightResult] = []
        for night in NewspaperPlan.nights {
            let result = try await farm.play(night)
            say(
                "\(night.name): \(result.pushes) pushes, \(result.done) of \(result.reached) devices are done"
            )
            results.append(result)
        }
        let picture = NewspaperPicture(results: results, plan: plan)
        say("\n" + picture.table)
        let file = words["keep"] ?? ".build/newspaper.svg"
        try picture.svg.write(toFile: file, atomically: true, encoding: .utf8)
        say("picture: \(file)")
    }

    private static func say(_ line: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }
}
