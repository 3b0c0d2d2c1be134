#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A file that a screening adds lines to. What was written behind the last record does not count.
struct ScreeningFile: ~Copyable {
    let path: String
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    /// Bytes that are written.
    private(set) var count = 0

    /// Opens the file or makes it; no other process may screen into it meanwhile. Nothing in it is changed yet.
    init(_ path: String) throws(CommandFailure) {
        self.path = path
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .usage("\(path): \(String(cString: strerror(errno)))") }
        guard Self.status(of: descriptor).st_mode & S_IFMT == S_IFREG else {
            throw .usage("\(path): is not a plain file")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw .usage("\(path): another screening writes it now")
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Bytes in the file now.
    var size: Int { Int(Self.status(of: descriptor).st_size) }

    /// Goes on behind so many bytes; what is there more is cut off.
    mutating func resume(at count: Int) throws(CommandFailure) {
        guard size >= count else {
            throw .usage("\(path): has lost lines since the screening was interrupted; --anew begins again")
        }
        guard ftruncate(descriptor, off_t(count)) == 0, lseek(descriptor, off_t(count), SEEK_SET) >= 0 else {
            throw failure()
        }
        self.count = count
    }

    mutating func add(_ line: String) {
        buffer += Array(line.utf8)
        buffer.append(UInt8(ascii: "\n"))
    }

    /// Brings all lines to the disk.
    mutating func flush() throws(CommandFailure) {
        guard !buffer.isEmpty else { return }
        var done = 0
        while done < buffer.count {
            let written = buffer.withUnsafeBytes {
                systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: $0[done...]))
            }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw failure() }
            done += written
        }
        guard fsync(descriptor) == 0 else { throw failure() }
        count += buffer.count
        buffer.removeAll(keepingCapacity: true)
    }

    /// Whether this is the same file as another, by whichever name.
    func isSame(as other: String) -> Bool {
        var (ours, theirs) = (Self.status(of: descriptor), stat())
        return stat(other, &theirs) == 0 && ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino
    }

    /// Puts a whole text in a file's place, in one step.
    static func replace(_ path: String, with text: String) throws(CommandFailure) {
        let part = path + ".part"
        try write(text, to: part)
        guard rename(part, path) == 0 else {
            throw .failed("\(path): \(String(cString: strerror(errno)))")
        }
    }

    private static func write(_ text: String, to path: String) throws(CommandFailure) {
        unlink(path)
        var file = try ScreeningFile(path)
        file.buffer = Array(text.utf8)
        try file.flush()
    }

    private static func status(of descriptor: Int32) -> stat {
        var status = stat()
        fstat(descriptor, &status)
        return status
    }

    private func failure() -> CommandFailure {
        .failed("\(path): \(String(cString: strerror(errno)))")
    }
}

/// `write` of the C library, where a method hides it.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}
