import EventLoop
import Foundation
import LoopTesting
import OpenSSL
import Simulator

@testable import Transport

/// One side of a connection in a test. The peer stores the received bytes and the end of the stream.
@Loop final class TestPeer {
    let stream: ByteStream
    private(set) var received: [UInt8] = []
    /// The number of bytes in each call of `onBytes`.
    let arrivals = Mailbox<Int>()
    /// The end of the stream.
    let ends = Mailbox<String>()
    /// Runs after bytes have arrived.
    var afterBytes: @Loop () -> Void = {}

    init(_ stream: ByteStream) {
        self.stream = stream
        stream.onBytes = { [unowned self] bytes in
            received.append(contentsOf: bytes)
            arrivals.put(bytes.count)
            afterBytes()
        }
        stream.onEnd = { [unowned self] end in ends.put("\(end)") }
    }

    func write(_ text: String) { Array(text.utf8).withUnsafeBytes { stream.write($0) } }

    var text: String { String(decoding: received, as: UTF8.self) }

    /// Waits until `count` bytes have arrived.
    func wait(for count: Int) async throws {
        while received.count < count { _ = try await arrivals.next() }
    }

    /// Waits until as many bytes have arrived as `text` has. Returns whether these bytes are equal to `text`.
    func expect(_ text: String) async throws -> Bool {
        try await wait(for: text.utf8.count)
        return self.text == text
    }

    /// Sends `count` bytes of a pattern, whenever the socket has room.
    func pour(_ count: Int) -> ByteSource {
        let fountain = ByteSource(count)
        stream.source = { output in fountain.fill(&output) }
        stream.setNeedsFlush()
        return fountain
    }
}

/// A source of a given number of bytes. The position of each byte determines its value.
@Loop final class ByteSource {
    let count: Int
    private(set) var produced = 0
    nonisolated static let chunk = 48 << 10
    /// A pattern that repeats. The pattern's length does not divide the size of any buffer.
    nonisolated private static let pattern = (0..<65_521).map {
        UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 9)
    }

    init(_ count: Int) { self.count = count }

    func stop() { produced = count }

    func fill(_ output: inout OutputBuffer) {
        let end = min(produced + Self.chunk, count)
        while produced < end {
            let place = produced % Self.pattern.count
            let size = min(end - produced, Self.pattern.count - place)
            Self.pattern.withUnsafeBytes {
                output.append(UnsafeRawBufferPointer(rebasing: $0[place..<place + size]))
            }
            produced += size
        }
    }

    nonisolated static func isIntact(_ bytes: [UInt8]) -> Bool {
        stride(from: 0, to: bytes.count, by: pattern.count).allSatisfy { start in
            let size = min(pattern.count, bytes.count - start)
            return bytes[start..<start + size].withUnsafeBytes { bytes in
                pattern.withUnsafeBytes { memcmp(bytes.baseAddress!, $0.baseAddress!, size) == 0 }
            }
        }
    }
}

/// The kinds of connection in a test.
enum Kind: CaseIterable, Sendable {
    case plain, unix, tls
}

/// A listener and the streams that it accepted.
@Loop final class Server {
    let listener: Listener
    let accepted: Mailbox<TestPeer>
    let endpoint: Endpoint
    private let clientContext: TLSContext?

    init(_ kind: Kind = .plain, handshakeTimeout: Duration = .seconds(10)) async throws {
        let mailbox = Mailbox<TestPeer>()
        accepted = mailbox
        let asked: Endpoint =
            kind == .unix ? .unix(path: temporaryPath()) : .tcp(host: "127.0.0.1", port: 0)
        var context: TLSContext?
        if kind == .tls {
            context = try TLSContext(server: ServerSettings(identity: Authority.server))
            clientContext = try TLSContext(client: ClientSettings(trust: .authorities(Authority.pem)))
        } else {
            clientContext = nil
        }
        listener = try await Listener(asked, tls: context, handshakeTimeout: handshakeTimeout) { stream in
            mailbox.put(TestPeer(stream))
        }
        endpoint = kind == .unix ? asked : .tcp(host: "127.0.0.1", port: listener.address.port)
    }

    var dial: Dial { Dial(endpoint, tls: clientContext, serverName: "localhost", timeout: .seconds(20)) }

    /// Opens a connection and returns both of its sides.
    func connect() async throws -> (client: TestPeer, server: TestPeer) {
        let client = TestPeer(try await dial.connect())
        return (client, try await accepted.next())
    }
}

/// The single certificate authority of all tests, for `localhost` and 127.0.0.1.
enum Authority {
    private static let made: (server: TLSIdentity, pem: [UInt8]) = {
        do {
            let authority = try ThrowAwayAuthority()
            return (try authority.server(names: ["localhost", "127.0.0.1"]), authority.certificatePEM)
        } catch { preconditionFailure("\(error)") }
    }()
    static var server: TLSIdentity { made.server }
    static var pem: [UInt8] { made.pem }
}

/// Returns an unused path that is short enough for a socket.
func temporaryPath() -> String {
    "/tmp/pf-\(UInt64.random(in: 0 ... .max)).sock"
}
