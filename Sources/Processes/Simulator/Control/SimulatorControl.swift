package import EventLoop
package import Transport

/// The other end of the control socket: what `pushfarm simulator control` does.
@Loop package enum SimulatorControl {
    /// Sends one command and waits for its answer, a JSON object on one line.
    package static func send(
        _ command: String, socket path: String, timeout: Duration = .seconds(5)
    ) async throws(TransportError) -> String {
        let stream = try await Dial(.unix(path: path), timeout: timeout).connect()
        defer { stream.close() }
        let answer = await withCheckedContinuation { (continuation: CheckedContinuation<String?, Never>) in
            let exchange = Exchange(continuation)
            stream.onBytes = { exchange.received($0) }
            stream.onEnd = { _ in exchange.finish() }
            exchange.start(within: timeout)
            var line = command.split(whereSeparator: \.isNewline).joined(separator: " ") + "\n"
            line.withUTF8 { stream.write(UnsafeRawBufferPointer($0)) }
        }
        guard let answer else { throw .timedOut(stage: "the simulator's answer") }
        return answer
    }

    @Loop private final class Exchange {
        private var continuation: CheckedContinuation<String?, Never>?
        private var bytes: [UInt8] = []
        private var timer: Timer?

        init(_ continuation: CheckedContinuation<String?, Never>) {
            self.continuation = continuation
        }

        func start(within timeout: Duration) {
            timer = Timer { [unowned self] in finish() }
            timer?.start(after: timeout)
        }

        func received(_ more: UnsafeRawBufferPointer) {
            bytes.append(contentsOf: more)
            if bytes.last == UInt8(ascii: "\n") { finish() }
        }

        func finish() {
            timer?.stop()
            let isWhole = bytes.last == UInt8(ascii: "\n")
            continuation?.resume(returning: isWhole ? String(decoding: bytes.dropLast(), as: UTF8.self) : nil)
            continuation = nil
        }
    }
}
