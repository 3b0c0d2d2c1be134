import EventLoop
import Glibc

/// What a child writes to standard error, which is not its log: fatal errors of the Swift runtime, messages of libraries.
///
/// A pipe that no writer waits for: what does not fit between two looks is lost.
@Loop final class LastWords {
    /// Most lines that one call returns, and bytes of a line.
    static let mostLines = 100
    static let longestLine = 500
    private static let mostBytes = 64 << 10

    /// The child's standard error, until ``childHasStarted()``.
    private(set) var writer: Int32
    private let reader: Int32
    /// The beginning of a line whose end has not come.
    private var rest: [UInt8] = []
    /// The line that says why the process ended: the first of a fatal error, or the last one.
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

    /// The child has its own descriptor: ours is closed.
    func childHasStarted() {
        guard writer >= 0 else { return }
        close(writer)
        writer = -1
    }

    /// Whole lines that have come since the last call.
    /// - Parameter isEnd: the child has ended, and the last line may have no line feed.
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

    /// A fatal error of the Swift runtime, or of a sanitizer.
    private static func isFatal(_ line: String?) -> Bool {
        line.map { $0.contains("Fatal error") || $0.contains("ERROR: ") } ?? false
    }
}
