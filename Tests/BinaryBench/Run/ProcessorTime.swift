import Foundation

/// What a process has used of the machine's processors.
enum ProcessorTime {
    /// Seconds since its start, 0 if it is gone.
    static func seconds(of pid: pid_t) -> Double {
        let text = FileManager.default.contents(atPath: "/proc/\(pid)/stat") ?? Data()
        // The name of the program, in brackets, may hold anything.
        let words =
            String(decoding: text, as: UTF8.self).split(separator: ")").last?.split(separator: " ") ?? []
        guard words.count > 12, let user = Double(words[11]), let system = Double(words[12]) else { return 0 }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}
