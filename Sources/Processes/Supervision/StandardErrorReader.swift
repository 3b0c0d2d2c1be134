import EventLoop
import Glibc

/// Reads the standard error of a child. A child writes its log to another descriptor, so its standard error contains only fatal
/// errors of the Swift runtime and messages of libraries.
///
/// A write of the child to this pipe never waits. If the pipe is full, the text is lost.
@Loop final class StandardErrorReader {
    /// The maximum number of lines that one call returns.
    static let mostLines = 100
    /// The maximum number of bytes in a line.
    static let longestLine = 500
    private static let mostBytes = 64 << 10

    /// The descriptor that becomes the child's standard error, until ``childHasStarted()``.
    private(set) var writer: Int32
    private let reader: Int32
    /// The beginning of a line that is not complete yet.
    private var rest: [UInt8] = []
    /// The line that explains the end of the process: the first line of a fatal error, or else the last line.
    private(set) var cause: String?

    init() throws(LoopError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw LoopError(code: -errno) }
        (reader, writer) = (ends[0], ends[1])
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
    }

    isolated deinit {
        childHasStarted()
        close(reader)
    }

    /// Closes this process's copy of ``writer``, because the child now has its own copy.
    func childHasStarted() {
        guard writer >= 0 else { return }
        close(writer)
        writer = -1
    }

    /// Returns the complete lines that arrived since the last call.
    /// - Parameter isEnd: whether the child has ended. Then the result also contains a last line without a line feed.
    func lines(isEnd: Bool = false) -> [String] {
        var bytes = rest
        var buffer = [UInt8](repeating: 0, count: 4096)
        while bytes.count < Self.mostBytes {
            let count = read(reader, &buffer, buffer.count)
            guard count > 0 else { break }
            bytes += buffer.prefix(count)
        }
        let parts = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        rest = isEnd ? [] : Array((parts.last ?? []).prefix(Self.longestLine))
        let lines = (isEnd ? parts[...] : parts.dropLast()).filter { !$0.isEmpty }.prefix(Self.mostLines).map
        {
            String(decoding: $0.prefix(Self.longestLine), as: UTF8.self)
        }
        if !Self.isFatal(cause) { cause = lines.first(where: Self.isFatal) ?? lines.last ?? cause }
        return lines
    }

    /// Whether the line reports a fatal error of the Swift runtime or of a sanitizer.
    private static func isFatal(_ line: String?) -> Bool {
        line.map { $0.contains("Fatal error") || $0.contains("ERROR: ") } ?? false
    }
}
