package import Foundation

/// The machine's processes, as /proc tells them.
package struct ProcessTable {
    package struct Entry {
        package let pid: pid_t
        package let state: Substring
        package let group: pid_t
    }

    package static var all: [Entry] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { Int32($0) }.compactMap { pid in
            guard let line = text("/proc/\(pid)/stat"), let end = line.lastIndex(of: ")") else { return nil }
            let words = line[end...].split(separator: " ")
            guard words.count > 3, let group = pid_t(words[3]) else { return nil }
            return Entry(pid: pid, state: words[1], group: group)
        }
    }

    /// Command line and environment, as anybody with the same rights can see them.
    package static func visibleText(of pid: pid_t) -> String {
        (text("/proc/\(pid)/cmdline") ?? "") + "\n" + (text("/proc/\(pid)/environ") ?? "")
    }

    private static func text(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }
}
