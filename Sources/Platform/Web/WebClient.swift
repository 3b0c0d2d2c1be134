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

/// Reads the status of an HTTP/1.1 response as its bytes arrive, and ignores the body.
///
/// A few interim responses (100 Continue) may precede it. Each head has a bounded size, and each byte is read once.
package struct ResponseStatus {
    package enum Progress: Equatable, Sendable {
        case incomplete
        case status(Int)
        /// Not a response, a head that is too long, or too many interim responses.
        case bad
    }

    private static let mostInterim = 8

    private var head: [UInt8] = []
    private var scanner = HeadScanner()
    private var interim = 0
    private var end: Progress?

    package init() {}

    /// - Returns: the status; it no longer changes once it is known.
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

    /// - Returns: nil if another response follows.
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
