import EventLoop
import HTTP2
import LoopTesting
import Transport

@testable import Gateway

/// A gateway over plain TCP with one connection. The test controls every action.
@Loop final class RawGateway {
    let session: ServerSession
    let stream: ByteStream
    /// Stream numbers of complete requests.
    let requests = Mailbox<Int32>()
    /// The length of each request's body: as stated in its header, and as received.
    private(set) var lengths: [(said: String, had: Int)] = []
    /// Called after the session has received bytes, and before the gateway handles the events of the session.
    var onInput: @Loop () -> Void = {}
    let ended = Mailbox<Void>()

    private init(_ stream: ByteStream, _ settings: SessionSettings) {
        self.stream = stream
        session = ServerSession(settings: settings)
        stream.onBytes = { [unowned self] bytes in
            do { try session.receive(bytes) } catch { self.stream.close() }
            onInput()
            drain()
            self.stream.setNeedsFlush()
        }
        stream.onEnd = { [unowned self] _ in ended.put(()) }
        stream.source = { [unowned self] output in
            output.append(upTo: 65_536) { room in
                do { return try session.fill(room) } catch { return 0 }
            }
        }
        stream.setNeedsFlush()
    }

    private func drain() {
        while let event = session.nextEvent() {
            guard case .request(let request) = event else { continue }
            let said = request.value(.contentLength).map { String(decoding: $0, as: UTF8.self) }
            lengths.append((said ?? "", request.bodyCount))
            requests.put(request.stream)
        }
    }

    /// Connects a sender to a gateway whose settings `change` has changed.
    static func connect(
        token: String? = "token", timeout: Duration = .seconds(20),
        _ change: (inout SessionSettings) -> Void = { _ in }
    ) async throws -> (RawGateway, Sender) {
        var settings = SessionSettings()
        settings.maxConcurrentStreams = 100
        change(&settings)
        let accepted = Mailbox<ByteStream>()
        let listener = try await Listener(.tcp(host: "127.0.0.1", port: 0), tls: nil) { accepted.put($0) }
        let stream = try await Dial(
            .tcp(host: "127.0.0.1", port: listener.address.port), timeout: .seconds(20)
        ).connect()
        let sender = Sender()
        sender.connection = APNsConnection(
            over: stream,
            StreamSettings(
                authority: "localhost", providerToken: token.map { Array($0.utf8) }, generation: 1,
                requestTimeout: timeout),
            listener: sender)
        return (RawGateway(try await accepted.next(), settings), sender)
    }

    func respond(_ number: Int32, _ status: String, body: String = "") {
        let block = HeaderBlock([.fixed(":status", status)])
        Array(body.utf8).withUnsafeBytes { _ = session.respond(to: number, block, body: $0) }
        stream.setNeedsFlush()
    }
}
