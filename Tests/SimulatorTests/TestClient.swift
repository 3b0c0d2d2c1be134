import EventLoop
import HTTP2
import Testing
import Transport

/// A simple HTTP/2 client with one connection. It returns responses without interpreting them.
@Loop final class TestClient {
    /// The result of one request.
    enum Ending: Equatable, Sendable {
        case responded(status: UInt16, body: String, id: String, retryAfter: UInt32?)
        case closed(code: UInt32, unprocessed: Bool)

        static func response(_ status: UInt16, _ reason: String? = nil) -> Ending {
            .responded(
                status: status, body: reason.map { "{\"reason\":\"\($0)\"}" } ?? "", id: TestClient.id,
                retryAfter: nil)
        }
    }

    nonisolated static let id = "123e4567-e89b-12d3-a456-42665544000a"
    nonisolated static let token = String(repeating: "a7", count: 32)

    /// The value of the `authorization` header of each push. The client omits headers with empty values.
    var authorization = ""
    private(set) var goAways: [String] = []
    private(set) var limits: [UInt32] = []
    private(set) var uniqueIDs: [String] = []
    /// Why the connection has ended: the gateway closed it or cut it; nil while the connection is open.
    private(set) var end: String?
    private let stream: ByteStream
    private let session = ClientSession()
    private var waiting: [UInt32: CheckedContinuation<Ending, Never>] = [:]
    private var watchers: [CheckedContinuation<Void, Never>] = []
    private var nextTag: UInt32 = 0

    init(_ stream: ByteStream) {
        self.stream = stream
        session.keepsIdentifiers = true
        stream.onBytes = { [unowned self] bytes in
            do { try session.receive(bytes) } catch { self.stream.close() }
            drain()
            self.stream.setNeedsFlush()
        }
        stream.onEnd = { [unowned self] end in
            self.end = "\(end)"
            session.abandon()
            drain()
        }
        stream.source = { [unowned self] output in
            output.append(upTo: 65_536) { room in
                do { return try session.fill(room) } catch { return 0 }
            }
            drain()
        }
        stream.setNeedsFlush()
    }

    func close() {
        stream.close()
        session.abandon()
        drain()
    }

    var isReading: Bool {
        get { stream.isReading }
        set { stream.isReading = newValue }
    }

    func cancel(stream number: Int32) {
        session.reset(number)
        stream.setNeedsFlush()
    }

    /// Writes frames of an unknown type, and waits until the socket has accepted all bytes.
    func writeUnknownFrames(bytes: Int) async throws {
        let payload = 1_000
        let frame = [0, UInt8(payload >> 8), UInt8(payload & 0xff), 0x42, 0, 0, 0, 0, 0]
        let frames = Array(repeating: frame + [UInt8](repeating: 0, count: payload), count: bytes / payload)
        Array(frames.joined()).withUnsafeBytes { stream.write($0) }
        let limit = ContinuousClock.now + .seconds(60)
        while stream.queuedBytes > 0, end == nil {
            guard ContinuousClock.now < limit else {
                throw TestGateway.Unexpected(what: "the socket takes nothing")
            }
            await Task.yield()
        }
    }

    /// Waits until an event makes `isTrue` true, with a time limit.
    func until(_ isTrue: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) async {
        var isOverdue = false
        let limit = Timer { [unowned self] in
            isOverdue = true
            wake()
        }
        limit.start(after: .seconds(60))
        while !isTrue(), !isOverdue {
            await withCheckedContinuation { if isTrue() { $0.resume() } else { watchers.append($0) } }
        }
        limit.stop()
        if isOverdue { Issue.record("it never came to that", sourceLocation: sourceLocation) }
    }

    private func wake() {
        let woken = watchers
        watchers.removeAll()
        for watcher in woken { watcher.resume() }
    }

    var limit: Int { session.remoteMaxConcurrentStreams }
    var openStreams: Int { session.openStreams }

    /// Waits for a free stream, sends a request and waits for its result.
    func push(
        token: String = TestClient.token, method: String = "POST", path: String? = nil,
        body: String = #"{"aps":{"alert":"Hi"}}"#, _ fields: [(String, String)] = []
    ) async throws -> Ending {
        var all: [(String, String)] = [
            (":method", method), (":scheme", "https"), (":authority", "localhost"),
            (":path", path ?? "/3/device/\(token)"),
        ]
        let usual = [
            ("authorization", authorization), ("apns-topic", "com.example.demo"),
            ("apns-push-type", "alert"), ("apns-id", TestClient.id),
        ]
        for (name, value) in usual where !fields.contains(where: { $0.0 == name }) {
            all.append((name, value))
        }
        all += fields
        let block = HeaderBlock(all.filter { !$0.1.isEmpty }.map { .fixed($0.0, $0.1) })
        nextTag += 1
        let tag = nextTag
        while true {
            let submission = Array(body.utf8).withUnsafeBytes { session.submit(block, body: $0, tag: tag) }
            switch submission {
            case .opened:
                return await withCheckedContinuation {
                    waiting[tag] = $0
                    stream.setNeedsFlush()
                }
            case .full: await until { openStreams < limit }
            case .closing: throw TestGateway.Unexpected(what: "the session is closing")
            }
        }
    }

    /// Sends `count` pushes at once, and returns their results in the order of sending.
    func pushes(_ count: Int, token: String = TestClient.token) async throws -> [Ending] {
        let tasks = (0..<count).map { _ in Loop.task { try await self.push(token: token) } }
        var endings: [Ending] = []
        for task in tasks { endings.append(try await task.value) }
        return endings
    }

    private func drain() {
        while let event = session.nextEvent() {
            switch event {
            case .responded(let response):
                let ending = Ending.responded(
                    status: response.status, body: String(decoding: response.body, as: UTF8.self),
                    id: String(decoding: response.messageID, as: UTF8.self), retryAfter: response.retryAfter)
                uniqueIDs.append(String(decoding: response.uniqueID, as: UTF8.self))
                waiting.removeValue(forKey: response.tag)?.resume(returning: ending)
            case .closed(let tag, _, let code, let unprocessed):
                waiting.removeValue(forKey: tag)?.resume(
                    returning: .closed(code: code, unprocessed: unprocessed))
            case .settings(let settings): limits.append(settings.maxConcurrentStreams)
            case .goAway(let last, _, let debug):
                goAways.append("\(last) \(String(decoding: debug, as: UTF8.self))")
            case .pong, .failed: break
            }
        }
        wake()
    }
}
