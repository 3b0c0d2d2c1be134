import Testing

@testable import HTTP2

/// A client session and a server session that exchange bytes in memory, in pieces of a chosen size.
final class Wire {
    let client: ClientSession
    let server: ServerSession
    let piece: Int
    /// All replies that the client received, with copies of the bodies.
    private(set) var responses: [Reply] = []
    private(set) var closed: [Closed] = []
    private(set) var clientEvents: [ClientEvent] = []
    private(set) var serverEvents: [ServerEvent] = []
    private(set) var requests: [Message] = []
    /// Called for each complete request. Decides how the server responds.
    var onRequest: (ServerSession, Message) -> Void = { _, _ in }

    struct Reply: Equatable {
        var tag: UInt32
        var status: UInt16
        var body = ""
        var retryAfter: UInt32?
        var id = ""
        var uniqueID = ""
    }

    struct Closed: Equatable {
        var tag: UInt32
        var code: UInt32
        var unprocessed: Bool
    }

    struct Message {
        var stream: Int32
        var fields: [RequestField: String]
        var repeated: [RequestField]
        var body: [UInt8]
        var bodyCount: Int
    }

    init(
        client: SessionSettings = SessionSettings(), server: SessionSettings = SessionSettings(),
        piece: Int = 65_536, bodyLimit: Int = 16_384
    ) throws {
        self.client = ClientSession(settings: client)
        self.server = ServerSession(settings: server, bodyLimit: bodyLimit)
        self.piece = piece
        try run()
        #expect(self.client.remoteMaxConcurrentStreams > 0)
    }

    /// Exchanges bytes until neither side has more to send.
    func run() throws(HTTP2Error) {
        var moved = true
        while moved {
            moved = try step(from: client.fill, to: server.receive)
            drainServer()
            if try step(from: server.fill, to: client.receive) { moved = true }
            drainServer()
            drainClient()
        }
    }

    /// Delivers the server's bytes to the client and no bytes to the server.
    func runServerOnly() throws(HTTP2Error) {
        while try step(from: server.fill, to: client.receive) {}
        drainServer()
        drainClient()
    }

    func drainClient() {
        while let event = client.nextEvent() {
            clientEvents.append(event)
            switch event {
            case .responded(let response):
                responses.append(
                    Reply(
                        tag: response.tag, status: response.status,
                        body: String(decoding: response.body, as: UTF8.self), retryAfter: response.retryAfter,
                        id: String(decoding: response.messageID, as: UTF8.self),
                        uniqueID: String(decoding: response.uniqueID, as: UTF8.self)))
            case .closed(let tag, _, let code, let unprocessed):
                closed.append(Closed(tag: tag, code: code, unprocessed: unprocessed))
            default: break
            }
        }
    }

    private func drainServer() {
        while let event = server.nextEvent() {
            serverEvents.append(event)
            guard case .request(let request) = event else { continue }
            var fields: [RequestField: String] = [:]
            for field in RequestField.allCases {
                if let value = request.value(field) { fields[field] = String(decoding: value, as: UTF8.self) }
            }
            let message = Message(
                stream: request.stream, fields: fields,
                repeated: RequestField.allCases.filter {
                    request.content.pointee.repeated & (1 << UInt32($0.rawValue)) != 0
                }, body: Array(request.body),
                bodyCount: request.bodyCount)
            requests.append(message)
            onRequest(server, message)
        }
    }

    private func step(
        from fill: (UnsafeMutableRawBufferPointer) throws(HTTP2Error) -> Int,
        to receive: (UnsafeRawBufferPointer) throws(HTTP2Error) -> Void
    ) throws(HTTP2Error) -> Bool {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: piece, alignment: 1)
        defer { room.deallocate() }
        let count = try fill(room)
        if count > 0 { try receive(UnsafeRawBufferPointer(rebasing: room[..<count])) }
        return count > 0
    }
}

/// The headers of a push. Fields 3 and 4 (path, apns-id) change for each push.
func pushHeaders() -> HeaderBlock {
    let block = HeaderBlock([
        .fixed(":method", "POST"), .fixed(":scheme", "https"), .fixed(":authority", "localhost"),
        .own(":path", prefix: "/3/device/", capacity: 200),
        .own("apns-id", capacity: 36),
        .fixed("authorization", "bearer abc", indexed: false), .fixed("apns-topic", "com.example"),
    ])
    block.set(3, "00ff")
    return block
}

/// A header block with `:status` and the given fields.
func responseHeaders(_ status: Int, _ fields: [(String, String)] = []) -> HeaderBlock {
    HeaderBlock([.fixed(":status", String(status))] + fields.map { .fixed($0.0, $0.1) })
}

extension ClientSession {
    func submit(_ headers: HeaderBlock, text: String = "{}", tag: UInt32) -> Submission {
        Array(text.utf8).withUnsafeBytes { submit(headers, body: $0, tag: tag) }
    }
}

extension ServerSession {
    @discardableResult
    func respond(to stream: Int32, _ headers: HeaderBlock, text: String) -> Bool {
        Array(text.utf8).withUnsafeBytes { respond(to: stream, headers, body: $0) }
    }

    func goAway(lastStream: Int32?, code: UInt32, text: String) {
        Array(text.utf8).withUnsafeBytes { goAway(lastStream: lastStream, code: code, debug: $0) }
    }
}
