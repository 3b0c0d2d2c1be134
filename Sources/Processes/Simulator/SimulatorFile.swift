import POSIX

/// Reads and writes small files as a whole, before the gateway starts serving.
enum SimulatorFile {
    static func read(_ path: String, limit: Int = 1 << 20) throws(SimulatorError) -> [UInt8] {
        do throws(SystemFailure) { return try SmallFile.read(path, limit: limit) } catch {
            throw .system("cannot read \(path): \(error)")
        }
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Writes a file that only its owner may read. The old file is replaced atomically.
    static func write(_ bytes: [UInt8], to path: String) throws(SimulatorError) {
        let draft = path + ".new"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("cannot write \(draft)") }
        let isWritten = bytes.withUnsafeBytes { writeAll($0, to: descriptor) }
        guard isWritten, close(descriptor) == 0, rename(draft, path) == 0 else {
            throw failure("cannot write \(path)")
        }
    }

    /// Creates the folder and its parents, readable by the owner only.
    static func makeFolder(_ path: String) throws(SimulatorError) {
        var made = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            made += (made.isEmpty || made == "/" ? "" : "/") + part
            guard mkdir(made, 0o700) == 0 || errno == EEXIST else { throw failure("cannot make \(made)") }
        }
    }

    /// Blocks until all bytes are written. Returns false on an error.
    static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = POSIX.write(descriptor, rest.baseAddress, rest.count)
            if count < 0 {
                if errno == EINTR { continue }
                return false
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
        return true
    }

    static func failure(_ what: String) -> SimulatorError {
        .system("\(what): \(SystemFailure.last)")
    }
}
