import Foundation

/// The machine that a bench runs on, and the day.
package enum Machine {
    package static var description: String {
        let text = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
        let model =
            text.split(separator: "\n").first { $0.hasPrefix("model name") }?
            .split(separator: ":").last?.trimmingCharacters(in: .whitespaces) ?? "unknown processor"
        let load = (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8)) ?? ""
        let day = Date.now.formatted(.iso8601.year().month().day())
        return "\(ProcessInfo.processInfo.activeProcessorCount) cores of \(model), \(day), "
            + "load \(load.split(separator: " ").first ?? "?") before the start"
    }
}
