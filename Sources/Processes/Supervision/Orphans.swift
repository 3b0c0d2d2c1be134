import Glibc

/// Finds children of an exited coordinator that do not exit. These children keep the coordinator's lock file open.
package enum Orphans {
    /// - Parameters:
    ///   - lock: the path of the lock file. Orphans keep the deleted old file open, even if a new file has this path
    ///     now.
    ///   - parent: the id of a process whose children are not orphans.
    /// - Returns: the orphans' process ids in ascending order; empty without /proc.
    package static func of(lock: String, except parent: Int32) -> [Int32] {
        guard let path = realpath(lock, nil) else { return [] }
        defer { free(path) }
        let names = [String(cString: path), String(cString: path) + " (deleted)"]
        return processes.filter { pid in
            pid != parent && ancestry(of: pid).allSatisfy { $0 != parent } && isChild(pid)
                && names.contains { $0 == link("/proc/\(pid)/fd/4") }
        }.sorted()
    }

    /// Kills an orphan at once. No batch is lost, because Redis knows all batches of the orphan.
    package static func end(_ pid: Int32) { kill(pid, SIGKILL) }

    private static var processes: [Int32] {
        guard let folder = opendir("/proc") else { return [] }
        defer { closedir(folder) }
        var all: [Int32] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if let pid = Int32(foreign: name) { all.append(pid) }
        }
        return all
    }

    /// Whether a process is a worker or an intake, according to its command line.
    private static func isChild(_ pid: Int32) -> Bool {
        let words = bytes("/proc/\(pid)/cmdline").split(separator: 0).map {
            String(decoding: $0, as: UTF8.self)
        }
        return words.first == "pushfarm" && words.count > 1 && ["worker", "intake"].contains(words[1])
    }

    private static func ancestry(of pid: Int32) -> [Int32] {
        var (all, next): ([Int32], Int32) = ([], pid)
        while next > 1, all.count < 64 {
            all.append(next)
            let status = bytes("/proc/\(next)/stat")
            guard let end = status.lastIndex(of: UInt8(ascii: ")")) else { break }
            let words = status[end...].split(separator: UInt8(ascii: " "))
            guard words.count > 2, let parent = Int32(foreign: String(decoding: words[2], as: UTF8.self))
            else {
                break
            }
            next = parent
        }
        return all
    }

    private static func link(_ path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = buffer.withUnsafeMutableBytes { raw in
            readlink(path, raw.baseAddress!.assumingMemoryBound(to: CChar.self), raw.count)
        }
        return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : nil
    }

    private static func bytes(_ path: String) -> [UInt8] {
        guard let file = fopen(path, "re") else { return [] }
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = fread(&buffer, 1, buffer.count, file)
        return Array(buffer.prefix(count))
    }
}
