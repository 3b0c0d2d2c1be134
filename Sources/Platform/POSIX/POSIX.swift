// Imports the system's C library under one name.
#if canImport(Darwin)
    @_exported public import Darwin
#elseif canImport(Musl)
    @_exported public import Musl
#else
    @_exported public import Glibc
#endif

/// Why a system call or the reading of a whole file failed.
package enum SystemFailure: Error, Hashable, Sendable, CustomStringConvertible {
    case call(Int32)
    case tooLarge

    /// The error of this thread's last failed call.
    package static var last: SystemFailure { .call(errno) }

    /// The system's text, such as "No such file or directory".
    package var description: String {
        switch self {
        case .call(let number): String(cString: strerror(number))
        case .tooLarge: "larger than 1 MiB"
        }
    }
}

/// Reads small files as a whole.
package enum SmallFile {
    /// - Parameter limit: larger files are refused.
    package static func read(_ path: String, limit: Int = 1 << 20) throws(SystemFailure) -> [UInt8] {
        // Without O_NONBLOCK, opening a pipe that has no writer would block the process.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .last }
        defer { close(descriptor) }
        var contents: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = POSIX.read(descriptor, &part, part.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw .last
            }
            if count == 0 { return contents }
            contents += part[..<count]
            guard contents.count <= limit else { throw .tooLarge }
        }
    }

    /// The text of a file that the system provides; nil if the file does not exist.
    package static func text(_ path: String) -> String? {
        (try? read(path)).map { String(decoding: $0, as: UTF8.self) }
    }
}
