import BenchKit
import Foundation

/// `governor-picture [keep=FILE]` runs a farm for four minutes at a gateway whose behaviour changes, and draws the result.
@main
enum Main {
    static func main() async throws {
        signal(SIGPIPE, SIG_IGN)
        let file = Words(CommandLine.arguments.dropFirst())["keep"] ?? ".build/governor.svg"
        let (samples, log) = try await GovernorRun(say: say).run()
        for line in log.split(separator: "\n")
        where ["connections", "send rate reduced", "no longer reduced"].contains(where: { line.contains($0) })
        {
            say(String(line))
        }
        for (before, after) in zip(samples, samples.dropFirst()) where Int(after.at) / 5 != Int(before.at) / 5
        {
            let seconds = after.at - before.at
            let rates = [after.accepted - before.accepted, after.troubles - before.troubles].map { count in
                Int((Double(count) / seconds).rounded())
            }
            say(
                "\(Int(after.at)) s: \(rates[0])/s accepted, \(rates[1])/s refused, \(after.connections) connections, "
                    + "allowed \(after.slowedTo)")
        }
        try GovernorDrawing(samples: samples).svg.write(toFile: file, atomically: true, encoding: .utf8)
        say("picture: \(file)")
    }

    private static func say(_ line: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }
}
