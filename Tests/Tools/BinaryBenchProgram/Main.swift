import BenchKit
import BinaryBench
import Foundation

/// `binary-bench [farm] [only=a,b] [budget=SECONDS] [keep=FOLDER]` runs the experiments with the binary interface, with historic
/// senders and with the farm. `binary-bench send ORDER` runs one historic sender.
@main
enum Main {
    static func main() async throws {
        signal(SIGPIPE, SIG_IGN)
        let arguments = CommandLine.arguments.dropFirst()
        if arguments.first == "send", let order = arguments.dropFirst().first {
            var sender = try HistoricSender(order: order)
            return say(String(decoding: try JSONEncoder().encode(sender.run()), as: UTF8.self))
        }
        let words = Words(arguments)
        let folder = words["keep"] ?? ".build/bench-binary"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let bench = ExperimentSeries(
            only: Set(words.list("only")), budget: words.number("budget") ?? 45,
            isFarmOnly: words.has("farm"),
            folder: folder)
        say("\(Machine.description)\n")
        var findings: [ExperimentResult] = []
        for experiment in bench.experiments {
            let finding = try await bench.run(experiment)
            say(TallyTable.text(finding) + "\n")
            findings.append(finding)
            try write(findings, to: folder)
        }
        let broken = findings.filter { !$0.isGood }.map(\.letter)
        say(broken.isEmpty ? "every promise was kept" : "BROKEN in \(broken.joined(separator: ", "))")
        say("figures and picture: \(folder)/bench-binary.json, bench-binary.svg")
        exit(broken.isEmpty ? 0 : 1)
    }

    private static func write(_ findings: [ExperimentResult], to folder: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(findings).write(to: URL(fileURLWithPath: folder + "/bench-binary.json"))
        try TallyPicture(findings).svg
            .write(toFile: folder + "/bench-binary.svg", atomically: true, encoding: .utf8)
    }

    private static func say(_ line: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }
}
