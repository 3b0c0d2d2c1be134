#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Where a command writes much text that must not lose a line: a file that is there when it is whole, or standard output.
struct TextSink: ~Copyable {
    private let path: String?
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private static let size = 1 << 16

    /// - Parameter path: nil: standard output.
    init(_ path: String?) throws(CommandFailure) {
        self.path = path
        descriptor = path.map { open($0 + ".part", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600) } ?? 1
        guard descriptor >= 0 else { throw .usage("\(path ?? ""): \(String(cString: strerror(errno)))") }
    }

    /// Standard output.
    init() {
        path = nil
        descriptor = 1
    }

    deinit { if descriptor > 1 { close(descriptor) } }

    mutating func write(_ line: String) throws(CommandFailure) {
        buffer += Array(line.utf8)
        buffer.append(UInt8(ascii: "\n"))
        if buffer.count >= Self.size { try flush() }
    }

    mutating func write(bytes: [UInt8]) throws(CommandFailure) {
        buffer += bytes
        if buffer.count >= Self.size { try flush() }
    }

    /// Everything is written: the file gets its name.
    mutating func finish() throws(CommandFailure) {
        try flush()
        guard let path else { return }
        guard fsync(descriptor) == 0, rename(path + ".part", path) == 0 else { throw failure() }
    }

    mutating func flush() throws(CommandFailure) {
        let descriptor = descriptor
        var done = 0
        while done < buffer.count {
            let count = buffer.withUnsafeBytes { bytes in
                #if canImport(Darwin)
                    Darwin.write(descriptor, bytes.baseAddress! + done, bytes.count - done)
                #else
                    Glibc.write(descriptor, bytes.baseAddress! + done, bytes.count - done)
                #endif
            }
            if count > 0 {
                done += count
            } else if errno == EAGAIN {
                var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&room, 1, -1)
            } else if errno != EINTR {
                throw failure()
            }
        }
        buffer.removeAll(keepingCapacity: true)
    }

    private func failure() -> CommandFailure {
        // Who reads has seen enough, as head has.
        if path == nil, errno == EPIPE { return .failed() }
        return .failed("\(path ?? "standard output"): \(String(cString: strerror(errno)))")
    }
}
