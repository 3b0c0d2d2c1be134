import FarmLogging

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Text that the user names on the command line.
enum TextFile {
    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Reads a whole file of UTF-8; `-` is standard input.
    static func read(_ path: String) throws(CommandFailure) -> String {
        let descriptor = path == "-" ? 0 : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .usage("\(path): \(String(cString: strerror(errno)))") }
        defer { if descriptor != 0 { close(descriptor) } }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = part.withUnsafeMutableBytes { systemRead(descriptor, $0) }
            if count == 0 { break }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw .usage("\(path): \(String(cString: strerror(errno)))")
            }
            bytes += part[..<count]
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .usage("\(path): is not UTF-8 text")
        }
        return text
    }
}

/// `read` of the C library, where `TextFile.read` hides it.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    read(descriptor, buffer.baseAddress!, buffer.count)
}

extension Substring {
    /// Without white space at both ends.
    var trimmed: Substring {
        var text = drop { $0.isWhitespace }
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}
