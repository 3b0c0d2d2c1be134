import EventLoop
import POSIX

/// Asks an HTTP proxy for a tunnel before TLS starts.
///
/// - Source: RFC 9110, section 9.3.6 (CONNECT).
@Loop enum ProxyTunnel {
    /// - Throws: ``TransportError/proxyRefused(_:)`` with the proxy's status line unless the status is 2xx.
    static func open(_ descriptor: Int32, to endpoint: Endpoint, waiter: SocketWaiter)
        async throws(TransportError)
    {
        var request = Array("CONNECT \(endpoint) HTTP/1.1\r\nHost: \(endpoint)\r\n\r\n".utf8)[...]
        while !request.isEmpty {
            let count = request.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                request = request.dropFirst(count)
            } else if errno == EAGAIN {
                try await waiter.wait(for: .writable, stage: "proxy")
            } else if errno != EINTR {
                throw .system(call: "write to the proxy", number: errno)
            }
        }
        let head = try await readHead(descriptor, waiter)
        let line = String(decoding: head.prefix { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
        let words = line.split(separator: " ")
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), words[1].hasPrefix("2"), words[1].count == 3
        else {
            throw .proxyRefused(line)
        }
    }

    /// Reads byte by byte up to the empty line, because the bytes after the empty line belong to TLS.
    private static func readHead(_ descriptor: Int32, _ waiter: SocketWaiter) async throws(TransportError)
        -> [UInt8]
    {
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            guard head.count < 8192 else { throw .proxyRefused("an endless response") }
            var byte: UInt8 = 0
            let count = read(descriptor, &byte, 1)
            if count == 1 {
                head.append(byte)
            } else if count == 0 {
                throw .proxyRefused("it closed the connection")
            } else if errno == EAGAIN {
                try await waiter.wait(for: .readable, stage: "proxy")
            } else if errno != EINTR {
                throw .system(call: "read from the proxy", number: errno)
            }
        }
        return head
    }
}
