package import EventLoop
package import OpenSSL
package import Transport

/// Sends a small document with POST over HTTP/1.1. Each request has a connection of its own.
@Loop package enum WebClient {
    package enum Failure: Error, Sendable, CustomStringConvertible {
        case transport(TransportError)
        case timedOut
        case noResponse
        case refused(status: Int)

        package var description: String {
            switch self {
            case .transport(let error): "\(error)"
            case .timedOut: "no response in time"
            case .noResponse: "the connection ended without a response"
            case .refused(let status): "responded with \(status)"
            }
        }
    }

    /// - Parameters:
    ///   - target: the path and query, which may contain a secret.
    ///   - host: the value of the `Host` field, with the port unless it is the scheme's default port.
    ///   - tls: nil for plain HTTP.
    /// - Throws: an error unless a response with status 2xx arrives in time.
    package static func post(
        _ body: [UInt8], type: String = "application/json", to endpoint: Endpoint, host: String,
        target: String, tls: TLSContext?, timeout: Duration
    ) async throws(Failure) {
        let deadline = ContinuousClock.now + timeout
        let stream: ByteStream
        do {
            stream = try await Dial(endpoint, tls: tls, timeout: timeout).connect()
        } catch { throw .transport(error) }
        let head =
            "POST \(target) HTTP/1.1\r\nHost: \(host)\r\nContent-Type: \(type)\r\n"
            + "Content-Length: \(body.count)\r\nUser-Agent: pushfarm\r\nConnection: close\r\n\r\n"
        let status = try await status(of: Array(head.utf8) + body, on: stream, until: deadline).get()
        guard (200..<300).contains(status) else { throw .refused(status: status) }
    }

    /// Sends a request and waits for the first line of the response.
    private static func status(
        of request: [UInt8], on stream: ByteStream, until deadline: ContinuousClock.Instant
    ) async -> Result<Int, Failure> {
        let end = AsyncEvent()
        var response = ResponseStatus()
        var result: Result<Int, Failure>?
        func finish(_ found: Result<Int, Failure>) {
            // The end of the connection often arrives in the same turn as the response, and then this function is called twice.
            // Only the first result counts.
            if result == nil { result = found }
            end.signal()
        }
        stream.onBytes = { bytes in
            switch response.read(bytes) {
            case .incomplete: return
            case .status(let status): finish(.success(status))
            case .bad: finish(.failure(.noResponse))
            }
        }
        stream.onEnd = { _ in finish(.failure(.noResponse)) }
        request.withUnsafeBytes { stream.write($0) }
        await end.wait(atMost: max(.zero, deadline - .now))
        return result ?? .failure(.timedOut)
    }
}

/// Reads the status of an HTTP/1.1 response as its bytes arrive, and ignores the body.
///
/// At most eight interim responses, such as 100 Continue, may precede the final response. The head of each response has a bounded
/// size, and each byte of the head is read once.
package struct ResponseStatus {
    package enum Progress: Equatable, Sendable {
        case incomplete
        case status(Int)
        /// The bytes are not a response, the head is too long, or there are too many interim responses.
        case bad
    }

    private static let mostInterim = 8

    private var head: [UInt8] = []
    private var scanner = HeadScanner()
    private var interim = 0
    private var end: Progress?

    package init() {}

    /// - Returns: the status. After the status is known, further bytes do not change the result.
    package mutating func read(_ bytes: some Sequence<UInt8>) -> Progress {
        for byte in bytes where end == nil {
            head.append(byte)
            if scanner.ends(with: byte) {
                end = finishHead()
            } else if head.count >= PageRequest.longestHead {
                end = .bad
            }
        }
        return end ?? .incomplete
    }

    /// - Returns: nil if the response was an interim response, so another response follows.
    private mutating func finishHead() -> Progress? {
        defer { head.removeAll(keepingCapacity: true) }
        let line = head.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
        let words = line.split(separator: UInt8(ascii: " "))
        guard words.count >= 2, words[0].starts(with: Array("HTTP/1.".utf8)), words[1].count == 3,
            let status = Int(foreign: words[1]), status >= 100
        else { return .bad }
        guard status < 200 else { return .status(status) }
        interim += 1
        return interim > Self.mostInterim ? .bad : nil
    }
}
