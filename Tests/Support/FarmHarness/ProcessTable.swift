package import Foundation

/// The machine's processes, read from /proc.
package struct ProcessTable {
    /// Living processes of a group. For a process outside the group, the search makes only one system call and reads no
    /// file of /proc/PID.
    package static func members(ofGroup group: pid_t) -> [pid_t] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { Int32($0) }.filter { getpgid($0) == group && lives($0) }
    }

    /// Living processes that name a folder in their command line or environment, including leaders of other sessions.
    package static func naming(folder: String) -> [pid_t] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { Int32($0) }.filter { visibleText(of: $0).contains(folder) && lives($0) }
    }

    /// Whether the first argument of the process's command line is this word, such as "worker" or "intake".
    package static func isAbout(_ word: String, _ pid: pid_t) -> Bool {
        let words = (text("/proc/\(pid)/cmdline") ?? "").split(separator: "\0")
        return words.dropFirst().first.map { $0 == word } ?? false
    }

    /// The parent of the process: its starter, or the process that adopted it after the starter ended.
    package static func parent(of pid: pid_t) -> pid_t? {
        statusWords(of: pid)?.dropFirst().first.flatMap { Int32($0) }
    }

    /// Whether the process lives: false for zombies and for a sanitizer's symbolizer, which briefly outlives its process.
    private static func lives(_ pid: pid_t) -> Bool {
        guard let words = statusWords(of: pid) else { return false }
        return words.first != "Z"
    }

    /// The fields of /proc/PID/stat after the process's name: state, parent and more.
    private static func statusWords(of pid: pid_t) -> [Substring]? {
        guard let line = text("/proc/\(pid)/stat"), let end = line.lastIndex(of: ")") else { return nil }
        guard !line.contains("(llvm-symbolizer)") else { return nil }
        return line[end...].dropFirst().split(separator: " ")
    }

    /// The resident memory of the process, in bytes.
    package static func residentBytes(of pid: pid_t) -> Int? {
        let line = (text("/proc/\(pid)/status") ?? "").split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }.map {
            $0 << 10
        }
    }

    /// The command line and environment of the process, which other processes with the same rights can read.
    package static func visibleText(of pid: pid_t) -> String {
        (text("/proc/\(pid)/cmdline") ?? "") + "\n" + (text("/proc/\(pid)/environ") ?? "")
    }

    private static func text(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }
}
