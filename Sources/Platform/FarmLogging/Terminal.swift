import POSIX

/// The terminal behind a file descriptor.
package enum Terminal {
    package static let standardOutput: Int32 = 1
    package static let standardError: Int32 = 2

    /// Whether the descriptor is a terminal, not a pipe or a file.
    package static func isTerminal(_ descriptor: Int32) -> Bool {
        isatty(descriptor) == 1
    }

    /// Whether to write colours: the descriptor is a terminal with colours, and `NO_COLOR` is not set (https://no-color.org).
    package static func allowsColour(on descriptor: Int32) -> Bool {
        guard isTerminal(descriptor) else { return false }
        if let value = getenv("NO_COLOR"), value.pointee != 0 { return false }
        guard let kind = getenv("TERM") else { return false }
        return String(cString: kind) != "dumb"
    }

    /// The number of columns of the terminal; nil if the descriptor is not a terminal.
    package static func columns(of descriptor: Int32) -> Int? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Writes all of `text`. If the descriptor accepts no bytes before the timeout, drops the remaining text, because a full pipe
    /// must not block the loop.
    /// - Parameter timeout: the number of milliseconds to wait each time that the descriptor cannot accept bytes.
    /// - Returns: whether all of `text` was written.
    @discardableResult
    package static func write(_ text: String, to descriptor: Int32, timeout: Int32 = 50) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var start = 0
            while start < bytes.count {
                let count = POSIX.write(descriptor, bytes.baseAddress! + start, bytes.count - start)
                if count >= 0 {
                    start += count
                } else if errno == EAGAIN {
                    var poller = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    guard poll(&poller, 1, timeout) > 0 else { return false }
                } else if errno != EINTR {
                    return false
                }
            }
            return true
        }
    }
}
