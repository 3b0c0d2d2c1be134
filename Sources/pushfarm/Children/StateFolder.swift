import FarmLogging
import Foundation
import Supervision

/// The folder for sockets, logs and the private Redis. Only its owner can use it.
enum StateFolder {
    /// Creates the folder and its missing parent folders.
    /// - Throws: an error when the folder cannot be used, or when another user can change its contents.
    static func make(_ path: String) throws(CommandFailure) {
        var parts = ""
        for part in path.split(separator: "/") {
            parts += "/" + part
            if mkdir(parts, parts == path ? 0o700 : 0o755) != 0, errno != EEXIST, errno != EISDIR {
                throw .usage("state_dir: \(parts): \(String(cString: strerror(errno)))")
            }
        }
        do throws(FileTrust.TrustProblem) { try FileTrust.stateFolder(path) } catch {
            throw .usage("state_dir: \(error)")
        }
        guard access(path, R_OK | W_OK | X_OK) == 0 else {
            throw .usage("state_dir: \(path): \(String(cString: strerror(errno)))")
        }
    }

    /// Creates a temporary folder for this process alone.
    static func temporary() throws(CommandFailure) -> String {
        let base = ProcessEnvironment.variables["TMPDIR"] ?? "/tmp"
        var template = Array((base + "/pushfarm-XXXXXX").utf8CString)
        guard template.withUnsafeMutableBufferPointer({ mkdtemp($0.baseAddress!) }) != nil else {
            throw .failed("cannot create a folder in \(base): \(String(cString: strerror(errno)))")
        }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes a folder with its contents. Does not follow links.
    static func remove(_ path: String) {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Opens a log file for appending. The caller closes the file.
    static func openLog(_ path: String) throws(CommandFailure) -> Int32 {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .failed("\(path): \(String(cString: strerror(errno)))") }
        return descriptor
    }

    static func write(_ text: String, to path: String) throws(CommandFailure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .failed("\(path): \(String(cString: strerror(errno)))") }
        Terminal.write(text, to: descriptor)
        close(descriptor)
    }

    /// The last lines of a file.
    static func tail(_ path: String, lines: Int) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        let size = lseek(descriptor, 0, SEEK_END)
        lseek(descriptor, max(0, size - 8192), SEEK_SET)
        var bytes = [UInt8](repeating: 0, count: 8192)
        let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { return "" }
        return String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n").suffix(lines).joined(
            separator: "\n")
    }
}
