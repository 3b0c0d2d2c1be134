import Foundation

/// Text files that the user names on the command line.
enum TextFile {
    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Checks that a file can be read. Commands call this function before they connect to Redis, and read the file
    /// later.
    static func check(readable path: String) throws(CommandFailure) {
        guard path == "-" || access(path, R_OK) == 0 else { throw .usage(failure(path)) }
    }

    /// Reads a whole UTF-8 file. The path `-` means standard input.
    static func read(_ path: String) throws(CommandFailure) -> String {
        let file = try InputFile(path)
        var bytes: [UInt8] = []
        while try file.read(into: &bytes) > 0 {}
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .usage("\(path): is not UTF-8 text")
        }
        return text
    }

    /// Removes a file, if it exists.
    static func remove(_ path: String) throws(CommandFailure) {
        guard unlink(path) == 0 || errno == ENOENT else { throw .failed(failure(path)) }
    }

    /// The path and the last error of the system.
    static func failure(_ path: String) -> String { "\(path): \(String(cString: strerror(errno)))" }

    /// Writes all bytes. Waits while the output is a pipe that is full. Returns false on an error, with the reason in
    /// `errno`.
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let count = systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: bytes[done...]))
                if count > 0 {
                    done += count
                } else if errno == EAGAIN {
                    var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = poll(&room, 1, -1)
                } else if errno != EINTR {
                    return false
                }
            }
            return true
        }
    }
}

/// A file that is read in parts. The path `-` means standard input.
struct InputFile: ~Copyable {
    let path: String
    /// The size of the file, or nil for an input without a known size.
    let byteCount: Int?
    private let descriptor: Int32

    init(_ path: String) throws(CommandFailure) {
        self.path = path
        descriptor = path == "-" ? 0 : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .usage(TextFile.failure(path)) }
        var status = stat()
        byteCount =
            fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
    }

    deinit { if descriptor > 0 { close(descriptor) } }

    /// Continues at an offset. The file must be a plain file, not a pipe.
    func seek(to offset: Int) throws(CommandFailure) {
        guard lseek(descriptor, off_t(offset), SEEK_SET) >= 0 else { throw .usage(TextFile.failure(path)) }
    }

    /// Adds the next bytes to `buffer`.
    /// - Returns: the number of bytes, or 0 at the end.
    func read(into buffer: inout [UInt8]) throws(CommandFailure) -> Int {
        var part = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = part.withUnsafeMutableBytes { systemRead(descriptor, $0) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .usage(TextFile.failure(path)) }
            buffer += part[..<count]
            return count
        }
    }
}

/// The lines of a file that is read in parts.
struct TextLines: ~Copyable {
    private let file: InputFile
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false
    private(set) var bytesRead = 0

    /// The longest line. A file with a longer line is not a text file.
    private static let longest = 1 << 16

    init(_ path: String) throws(CommandFailure) { file = try InputFile(path) }

    /// The size of the file, or nil when the size is unknown.
    var byteCount: Int? { file.byteCount }

    /// The next line without its line feed, or nil after the last line.
    mutating func next() throws(CommandFailure) -> Substring? {
        while true {
            if let end = buffer[start...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { start = end + 1 }
                return text(buffer[start..<end])
            }
            if isAtEnd {
                guard start < buffer.count else { return nil }
                defer { start = buffer.count }
                return text(buffer[start...])
            }
            guard buffer.count - start <= Self.longest else {
                throw .usage("\(file.path): a line has more than \(Self.longest) bytes")
            }
            buffer.removeFirst(start)
            start = 0
            let count = try file.read(into: &buffer)
            isAtEnd = count == 0
            bytesRead += count
        }
    }

    private func text(_ bytes: ArraySlice<UInt8>) -> Substring {
        String(decoding: bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes, as: UTF8.self)[...]
    }
}

/// The output of a command that must not lose a line: standard output, or a file that appears only when it is complete.
struct TextSink: ~Copyable {
    private let path: String?
    private let descriptor: Int32
    private var buffer: [UInt8] = []

    private static let size = 1 << 16

    /// - Parameter path: the file, or nil for standard output.
    init(_ path: String?) throws(CommandFailure) {
        self.path = path
        descriptor = path.map { open($0 + ".part", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600) } ?? 1
        guard descriptor >= 0 else { throw .usage(TextFile.failure(path ?? "")) }
    }

    /// Opens standard output.
    init() { (path, descriptor) = (nil, 1) }

    deinit { if descriptor > 1 { close(descriptor) } }

    mutating func write(_ line: String) throws(CommandFailure) { try write(bytes: Array((line + "\n").utf8)) }

    mutating func write(bytes: [UInt8]) throws(CommandFailure) {
        buffer += bytes
        if buffer.count >= Self.size { try flush() }
    }

    /// Gives the complete file its final name.
    mutating func finish() throws(CommandFailure) {
        try flush()
        guard let path else { return }
        guard fsync(descriptor) == 0, rename(path + ".part", path) == 0 else { throw failure() }
    }

    mutating func flush() throws(CommandFailure) {
        guard TextFile.write(buffer, to: descriptor) else { throw failure() }
        buffer.removeAll(keepingCapacity: true)
    }

    private func failure() -> CommandFailure {
        // The reader has closed the pipe, as `head` does. The command ends without a message.
        if path == nil, errno == EPIPE { return .failed() }
        return .failed(TextFile.failure(path ?? "standard output"))
    }
}

/// `read` and `write` of the C library. Inside a type with a method of one of these names, the method hides the C
/// function.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    read(descriptor, buffer.baseAddress!, buffer.count)
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress!, bytes.count)
}

extension Substring {
    /// The text without white space at both ends.
    var trimmed: Substring {
        var text = drop { $0.isWhitespace }
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}
