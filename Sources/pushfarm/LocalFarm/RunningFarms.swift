import Foundation

/// The state folders of this user's `pushfarm up` processes, found in the machine's process list.
enum RunningFarms {
    static func stateFolders() -> [String] {
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        let folders = entries.filter { Int32(foreign: $0) != nil }.compactMap(stateFolder(ofProcess:))
        return Set(folders).sorted()
    }

    private static func stateFolder(ofProcess pid: String) -> String? {
        var status = stat()
        guard stat("/proc/" + pid, &status) == 0, status.st_uid == geteuid(),
            let line = FileManager.default.contents(atPath: "/proc/\(pid)/cmdline"),
            let home = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/cwd")
        else { return nil }
        let words = line.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        return stateFolder(of: words, home: home).flatMap {
            LocalSocket.accepts($0 + "/redis.sock") ? $0 : nil
        }
    }

    /// The state folder of the process with this command line, or nil when the process is not a `pushfarm up`.
    static func stateFolder(of words: [String], home: String) -> String? {
        guard words.count > 1, words[0].split(separator: "/").last == "pushfarm", words[1] == "up" else {
            return nil
        }
        var folder = "var"
        for (index, word) in words.enumerated() {
            if word == "--state-dir", index + 1 < words.count { folder = words[index + 1] }
            if word.hasPrefix("--state-dir=") { folder = String(word.dropFirst("--state-dir=".count)) }
        }
        return folder.hasPrefix("/") ? folder : home + "/" + folder
    }
}
