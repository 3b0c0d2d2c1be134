import APNs
import BinaryProtocol
import EventLoop
import Transport

/// A raw connection to the binary interface or to the feedback service. It stores the received bytes.
@Loop final class TestSender {
    private(set) var received: [UInt8] = []
    /// Why the connection has ended: the gateway closed it or cut it; nil while the connection is open.
    private(set) var end: String?
    let stream: ByteStream
    /// Called with the number of bytes each time bytes arrive.
    var onReceived: @Loop (Int) -> Void = { _ in }
    private var watchers: [CheckedContinuation<Void, Never>] = []
    /// A timer that closes the connection if the gateway does not. Then the test fails at its expectation.
    private var limit: Timer?
    private var isOverdue = false

    init(_ stream: ByteStream) {
        self.stream = stream
        stream.onBytes = { [unowned self] bytes in
            received += bytes
            onReceived(bytes.count)
            wake()
        }
        stream.onEnd = { [unowned self] end in
            self.end = "\(end)"
            wake()
        }
        limit = Timer { [unowned self] in
            isOverdue = true
            close()
        }
        limit?.start(after: .seconds(60))
    }

    func close() {
        stream.close()
        if end == nil { end = isOverdue ? "overdue" : "closed here" }
        wake()
    }

    func write(_ frames: TestFrame...) { write(frames.flatMap(\.bytes)) }

    func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { stream.write($0) }
    }

    /// Waits until the gateway closes the connection, and returns all received bytes.
    func untilEnd() async -> [UInt8] {
        await until { end != nil }
        return received
    }

    func until(_ isTrue: () -> Bool) async {
        while !isTrue(), !isOverdue {
            await withCheckedContinuation {
                if isTrue() || isOverdue { $0.resume() } else { watchers.append($0) }
            }
        }
    }

    private func wake() {
        let woken = watchers
        watchers.removeAll()
        for watcher in woken { watcher.resume() }
    }
}

/// A frame to send to the gateway.
struct TestFrame {
    var id: UInt32 = 0
    var token: [UInt8] = good
    var payload = Array(#"{"aps":{"alert":"Hi"}}"#.utf8)
    var expiration: UInt32?
    var priority: UInt8?
    var command = BinaryCommand.framed

    static let good = [UInt8](repeating: 0xa7, count: 32)
    static let bad = starting(0xbad0_0000)

    /// Returns a token with these first four bytes, which determine how the simulator responds to the token.
    static func starting(_ prefix: UInt32) -> [UInt8] {
        withUnsafeBytes(of: prefix.bigEndian) { Array($0) } + [UInt8](repeating: 0x11, count: 28)
    }

    static func good(_ id: UInt32) -> TestFrame { TestFrame(id: id) }
    static func bad(_ id: UInt32) -> TestFrame { TestFrame(id: id, token: bad) }

    var bytes: [UInt8] {
        token.withUnsafeBytes { token in
            payload.withUnsafeBytes { payload in
                let push = BinaryNotification(
                    token: token, payload: payload, identifier: id, expiration: expiration,
                    priority: priority)
                return [UInt8](unsafeUninitializedCapacity: push.length(as: command)) { room, count in
                    count = push.write(as: command, to: UnsafeMutableRawBufferPointer(room))
                }
            }
        }
    }
}

func reply(_ status: UInt8, _ identifier: UInt32) -> [UInt8] {
    BinaryReply(status: BinaryStatus(rawValue: status), identifier: identifier).bytes
}
