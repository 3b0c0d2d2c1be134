#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Small text files, read whole.
enum FileText {
    /// Larger files are refused.
    static let largest = 1 << 20

    /// Reads a file of UTF-8 text.
    /// - Throws: a sentence that names the file.
    static func read(_ path: String) throws(InvalidValue) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw InvalidValue(reason(path)) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = systemRead(descriptor, &part)
            if count < 0 { throw InvalidValue(reason(path)) }
            if count == 0 { break }
            bytes += part[..<count]
            if bytes.count > largest { throw InvalidValue("\(path): is larger than 1 MiB") }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw InvalidValue("\(path): is not UTF-8 text")
        }
        return text
    }

    /// Nil when the file can be opened and is a plain file.
    static func whyUnreadable(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return reason(path) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return reason(path) }
        return status.st_mode & S_IFMT == S_IFREG ? nil : "\(path): is not a file"
    }

    static func exists(_ path: String) -> Bool {
        access(path, F_OK) == 0
    }

    /// Whether it is a plain file of this user that no other user may write.
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

    private static func systemRead(_ descriptor: Int32, _ part: inout [UInt8]) -> Int {
        while true {
            let count = part.withUnsafeMutableBytes { systemCall(descriptor, $0) }
            if count >= 0 || errno != EINTR { return count }
        }
    }

    private static func reason(_ path: String) -> String {
        "\(path): " + String(cString: strerror(errno)).lowercased()
    }
}

/// `read` of the C library, where `FileText.read` hides it.
private func systemCall(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    read(descriptor, buffer.baseAddress!, buffer.count)
}
