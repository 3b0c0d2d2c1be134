import POSIX

/// Reads small text files as a whole.
enum ConfigurationFile {
    /// Reads a file of UTF-8 text.
    /// - Throws: a message that names the file.
    static func read(_ path: String) throws(InvalidValue) -> String {
        let bytes: [UInt8]
        do throws(SystemFailure) { bytes = try SmallFile.read(path) } catch {
            throw InvalidValue("\(path): " + (error == .tooLarge ? "is \(error)" : "\(error)".lowercased()))
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw InvalidValue("\(path): is not UTF-8 text")
        }
        return text
    }

    /// Returns why the file cannot be read; nil if it is a plain file that can be opened.
    static func whyUnreadable(_ path: String) -> String? {
        var status = stat()
        guard access(path, R_OK) == 0, stat(path, &status) == 0 else {
            return "\(path): " + "\(SystemFailure.last)".lowercased()
        }
        return status.st_mode & S_IFMT == S_IFREG ? nil : "\(path): is not a file"
    }

    static func exists(_ path: String) -> Bool {
        access(path, F_OK) == 0
    }

    /// Whether the path is a plain file of this user that no other user may write.
    static func isOnlyOurs(_ path: String) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFREG && status.st_uid == geteuid()
            && status.st_mode & (S_IWGRP | S_IWOTH) == 0
    }

    static var workingDirectory: String {
        guard let path = getcwd(nil, 0) else { return "." }
        defer { free(path) }
        return String(cString: path)
    }

    static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "localhost" }
        let text = name.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        return text.isEmpty ? "localhost" : text
    }
}
