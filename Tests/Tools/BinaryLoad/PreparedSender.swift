import APNs
import BinaryProtocol
import EventLoop
import OpenSSL
import Transport

/// Writes the same prepared frames repeatedly, and at the end one frame that the gateway refuses. The reply to the last frame
/// proves that the gateway has read all frames before it.
@Loop final class PreparedSender {
    private static let block = 10_000
    private let stream: ByteStream
    private let frames: [UInt8]
    private var left = 0
    private var reader = BinaryReply.Reader()
    private var outcome: BinaryReply?
    private var hasEnded = false
    private var waiting: CheckedContinuation<Void, Never>?

    var bytesPerFrame: Int { frames.count / Self.block }

    static func connect(to gateway: SimulatorProcess) async throws -> PreparedSender {
        let settings = ClientSettings(
            trust: .authorityFile(gateway.authorityFile),
            identity: try TLSIdentity(file: gateway.certificateFile))
        let stream = try await Dial(
            .tcp(host: "127.0.0.1", port: gateway.port), tls: try TLSContext(client: settings),
            serverName: "localhost", timeout: .seconds(10)
        ).connect()
        return PreparedSender(stream)
    }

    private init(_ stream: ByteStream) {
        self.stream = stream
        var random = SystemRandomNumberGenerator()
        frames = (1...UInt32(Self.block)).flatMap { id in
            Self.frame(id, token: (0..<32).map { _ in UInt8.random(in: 1...0x7f, using: &random) })
        }
        stream.onBytes = { [unowned self] bytes in
            if case .reply(let reply) = reader.read(bytes) { outcome = reply }
        }
        stream.onEnd = { [unowned self] _ in
            hasEnded = true
            waiting?.resume()
            waiting = nil
        }
        stream.source = { [unowned self] in fill(&$0) }
    }

    func start(frames count: Int) {
        left = count
        stream.setNeedsFlush()
    }

    /// Waits for the reply to the last frame.
    func proof() async throws {
        await withCheckedContinuation { if hasEnded { $0.resume() } else { waiting = $0 } }
        guard outcome == BinaryReply(status: .invalidToken, identifier: .max) else {
            throw SimulatorProcess.Failure(
                what: "the connection ended with \(outcome.map { "\($0)" } ?? "no reply")")
        }
    }

    private func fill(_ output: inout OutputBuffer) {
        guard left > 0 else { return }
        let count = min(left, Self.block)
        left -= count
        frames.withUnsafeBytes {
            output.append(UnsafeRawBufferPointer(rebasing: $0[..<(count * bytesPerFrame)]))
        }
        guard left == 0 else { return }
        Self.frame(.max, token: [0xba, 0xd0, 0, 0] + [UInt8](repeating: 1, count: 28)).withUnsafeBytes {
            output.append($0)
        }
    }

    private static func frame(_ id: UInt32, token: [UInt8]) -> [UInt8] {
        token.withUnsafeBytes { token in
            Array(#"{"aps":{"alert":"Hi"}}"#.utf8).withUnsafeBytes { payload in
                let push = BinaryNotification(token: token, payload: payload, identifier: id)
                return [UInt8](unsafeUninitializedCapacity: push.length(as: .framed)) { room, count in
                    count = push.write(as: .framed, to: UnsafeMutableRawBufferPointer(room))
                }
            }
        }
    }
}
