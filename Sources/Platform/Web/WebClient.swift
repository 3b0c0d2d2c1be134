package import EventLoop
package import OpenSSL
package import Transport

/// Sends a small document with POST over HTTP/1.1, one connection each.
@Loop package enum WebClient {
    package enum Failure: Error, Sendable, CustomStringConvertible {
        case transport(TransportError)
        case timedOut
        case noAnswer
        case refused(status: Int)

        package var description: String {
            switch self {
            case .transport(let error): "\(error)"
            case .timedOut: "no answer in time"
            case .noAnswer: "the connection ended without an answer"
            case .refused(let status): "answered \(status)"
            }
        }
    }

    /// - Parameters:
    ///   - target: path and query; it may contain a secret.
    ///   - host: the value of the `Host` field, with the port unless it is the scheme's default.
    ///   - tls: nil for plain HTTP.
    /// - Throws: unless a response with status 2xx arrives in time.
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
        let exchange = Exchange(stream)
        defer { stream.close() }
        let result = await exchange.run(Array(head.utf8) + body, until: deadline)
        let status = try result.get()
        guard (200..<300).contains(status) else { throw .refused(status: status) }
    }

    /// Waits for the first line of the response, and ignores the rest.
    @Loop private final class Exchange {
        private let stream: ByteStream
        private var response = ResponseStatus()
        private var continuation: CheckedContinuation<Result<Int, Failure>, Never>?
        private lazy var limit = Timer { [unowned self] in finish(.failure(.timedOut)) }

        init(_ stream: ByteStream) { self.stream = stream }

        func run(
            _ bytes: [UInt8], until deadline: ContinuousClock.Instant
        ) async -> Result<Int, Failure> {
            await withCheckedContinuation { continuation in
                self.continuation = continuation
                stream.onBytes = { [unowned self] bytes in receive(bytes) }
                stream.onEnd = { [unowned self] _ in finish(.failure(.noAnswer)) }
                limit.start(after: max(.zero, deadline - .now))
                bytes.withUnsafeBytes { stream.write($0) }
            }
        }

        private func receive(_ bytes: UnsafeRawBufferPointer) {
            switch response.read(bytes) {
            case .incomplete: return
            case .status(let status): finish(.success(status))
            case .bad: finish(.failure(.noAnswer))
            }
        }

        private func finish(_ result: Result<Int, Failure>) {
            limit.stop()
            // Nothing more is read of a server that goes on.
            stream.close()
            continuation?.resume(returning: result)
            continuation = nil
        }
    }
}
