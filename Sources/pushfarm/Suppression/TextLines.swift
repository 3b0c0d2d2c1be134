#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The lines of a file, read a piece at a time; `-` is standard input.
struct TextLines: ~Copyable {
    private let path: String
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false
    /// Bytes read, and bytes in the file if it has an end.
    private(set) var bytesRead = 0
    let byteCount: Int?
    /// A longer line is no text.
    private static let longest = 1 << 16

    init(_ path: String) throws(CommandFailure) {
        self.path = path
        descriptor = path == "-" ? 0 : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .usage("\(path): \(String(cString: strerror(errno)))") }
        var status = stat()
        byteCount =
            fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
    }

    deinit { if descriptor > 0 { close(descriptor) } }

    /// The next line without its end; nil behind the last one.
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
                throw .usage("\(path): a line has more than \(Self.longest) bytes")
            }
            buffer.removeFirst(start)
            start = 0
            try fill()
        }
    }

    private func text(_ bytes: ArraySlice<UInt8>) -> Substring {
        String(decoding: bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes, as: UTF8.self)[...]
    }

    private mutating func fill() throws(CommandFailure) {
        let descriptor = descriptor
        var part = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = part.withUnsafeMutableBytes { read(descriptor, $0.baseAddress!, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .usage("\(path): \(String(cString: strerror(errno)))") }
            isAtEnd = count == 0
            bytesRead += count
            buffer += part[..<count]
            return
        }
    }
}
