import Foundation

/// The memory of processes, from /proc/PID/status.
enum ResidentMemory {
    enum Field: String {
        case current = "VmRSS:"
        case greatest = "VmHWM:"
    }

    /// The largest resident memory among some processes, in MB.
    static func megabytes(of processes: [pid_t], _ field: Field) -> Double {
        let sizes = processes.map { pid in
            let text = FileManager.default.contents(atPath: "/proc/\(pid)/status") ?? Data()
            let line = String(decoding: text, as: UTF8.self).split(separator: "\n").first {
                $0.hasPrefix(field.rawValue)
            }
            let words = line?.split(whereSeparator: \.isWhitespace) ?? []
            return words.count > 1 ? (Double(words[1]) ?? 0) / 1_024 : 0
        }
        return sizes.max() ?? 0
    }
}
