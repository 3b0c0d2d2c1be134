import Foundation

/// A file to which a command adds lines. After an interruption, the same command can continue the file. The command
/// saves the number of valid bytes in another file.
final class ResumableFile {
    let path: String
    /// The work of the command, such as "screening", for messages.
    private let work: String
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    /// The number of bytes written.
    private(set) var count = 0

    /// Opens or creates the file, and locks it against other commands of this kind. Does not change the file's content.
    init(_ path: String, of work: String) throws(CommandFailure) {
        (self.path, self.work) = (path, work)
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .usage(TextFile.failure(path)) }
        guard Self.status(of: descriptor).st_mode & S_IFMT == S_IFREG else {
            throw .usage("\(path): is not a regular file")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw .usage("\(path): another \(work) is writing this file")
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The present size of the file in bytes.
    var size: Int { Int(Self.status(of: descriptor).st_size) }

    /// Continues after `count` bytes and removes all later bytes.
    func resume(at count: Int) throws(CommandFailure) {
        guard size >= count else {
            throw .usage(
                "\(path): has lost lines since the \(work) was interrupted; use --start-over to begin again")
        }
        guard ftruncate(descriptor, off_t(count)) == 0, lseek(descriptor, off_t(count), SEEK_SET) >= 0 else {
            throw failure()
        }
        self.count = count
    }

    /// Whether the file has no lines. Added lines that are not written yet count as lines of the file.
    var isEmpty: Bool { count == 0 && buffer.isEmpty }

    func add(_ line: [UInt8]) {
        buffer += line
        buffer.append(UInt8(ascii: "\n"))
    }

    /// Writes all lines to the disk.
    func flush() throws(CommandFailure) {
        guard !buffer.isEmpty else { return }
        guard TextFile.write(buffer, to: descriptor), fsync(descriptor) == 0 else { throw failure() }
        count += buffer.count
        buffer.removeAll(keepingCapacity: true)
    }

    /// Whether this file and the file at the other path are the same file.
    func isSame(as other: String) -> Bool {
        var (ours, theirs) = (Self.status(of: descriptor), stat())
        return stat(other, &theirs) == 0 && ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino
    }

    private static func status(of descriptor: Int32) -> stat {
        var status = stat()
        fstat(descriptor, &status)
        return status
    }

    private func failure() -> CommandFailure { .failed(TextFile.failure(path)) }
}
