import FarmHarness
import Foundation

/// Describes the machine and the date of a bench run.
package enum Machine {
    package static var description: String {
        let load = text("/proc/loadavg").split(separator: " ").first ?? "?"
        return "\(processor), \(day), load \(load) before the start"
    }

    package static var processor: String {
        let model =
            text("/proc/cpuinfo").split(separator: "\n").first { $0.hasPrefix("model name") }?
            .split(separator: ":").last?.trimmingCharacters(in: .whitespaces) ?? "unknown processor"
        return "\(ProcessInfo.processInfo.processorCount) cores of \(model)"
    }

    package static var memory: String {
        let kilobytes = text("/proc/meminfo").split(whereSeparator: \.isWhitespace).dropFirst().first
        return "\((Double(kilobytes ?? "") ?? 0) / 1_048_576 + 0.5)".split(separator: ".")[0] + " GB"
    }

    package static var kernel: String {
        "Linux " + text("/proc/sys/kernel/osrelease").trimmingCharacters(in: .whitespacesAndNewlines)
    }

    package static var day: String { Date.now.formatted(.iso8601.year().month().day()) }

    /// Returns the first line of a program's version text.
    package static func version(_ program: String, _ arguments: String...) async throws -> String {
        let folder = try TestFolder()
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        // The shell finds the program in the PATH of this process.
        let child = try Child(
            "version", "/bin/sh", ["-c", "exec \"$@\"", "sh", program] + arguments,
            environment: ["PATH": path],
            in: folder.path)
        guard try await child.wait() == .exited(0) else { return "unknown" }
        let said = child.output.isEmpty ? child.error : child.output
        return String(said.split(separator: "\n").first ?? "unknown")
    }

    private static func text(_ file: String) -> String {
        (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
    }
}
