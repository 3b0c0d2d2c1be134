import HTTP2

/// A client that sends handmade frames to a server session and reads the replies.
///
/// The server responds to each complete request with status 200, except to requests for `/wait`.
final class RawClient {
    let server: ServerSession
    private(set) var frames: [RawServer.Frame] = []
    private(set) var failure: HTTP2Error?
    private(set) var unread: [UnreadRefusal] = []
    private let response = responseHeaders(200)

    /// Sends the preface and SETTINGS, and acknowledges the server's SETTINGS.
    init(
        _ settings: SessionSettings = SessionSettings(), streamLimitText: String? = nil,
        acknowledges: Bool = true
    ) {
        server = ServerSession(settings: settings, streamLimitText: streamLimitText)
        send(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + Self.frame(4, []))
        if acknowledges { send(Self.frame(4, flags: 1, [])) }
        frames.removeAll()
    }

    /// - Parameter piece: the number of bytes that the server receives at a time.
    func send(_ bytes: [UInt8], piece: Int = .max) {
        var rest = bytes[...]
        while !rest.isEmpty, failure == nil {
            let next = Array(rest.prefix(piece))
            rest = rest.dropFirst(next.count)
            next.withUnsafeBytes { next in
                do throws(HTTP2Error) { try server.receive(next) } catch { failure = error }
            }
            exchange()
        }
    }

    private func exchange() {
        while let event = server.nextEvent() {
            switch event {
            case .request(let request):
                if request.value(.path).map({ String(decoding: $0, as: UTF8.self) }) != "/wait" {
                    server.respond(to: request.stream, response)
                }
            case .refused(_, let why): unread.append(why)
            default: break
            }
        }
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 1)
        defer { room.deallocate() }
        var bytes: [UInt8] = []
        do throws(HTTP2Error) {
            while case let count = try server.fill(room), count > 0 { bytes += room[..<count] }
        } catch { failure = error }
        frames += RawServer.frames(in: bytes)
    }

    // MARK: Output of the server

    /// The error codes of received GOAWAY frames.
    var goAways: [UInt32] { frames.filter { $0.type == 7 }.map { Self.number($0.payload[4..<8]) } }
    var goAwayTexts: [String] {
        frames.filter { $0.type == 7 }.map { String(decoding: $0.payload[8...], as: UTF8.self) }
    }
    /// The error codes of received RST_STREAM frames.
    func resets(of stream: Int32) -> [UInt32] {
        frames.filter { $0.type == 3 && $0.stream == stream }.map { Self.number($0.payload[...]) }
    }
    func hasResponse(_ stream: Int32) -> Bool { frames.contains { $0.type == 1 && $0.stream == stream } }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }

    // MARK: Frames

    static func frame(_ type: UInt8, flags: UInt8 = 0, stream: Int32 = 0, _ payload: [UInt8]) -> [UInt8] {
        RawServer.frame(type: type, flags: flags, stream: stream, payload)
    }

    static let request = [
        (":method", "POST"), (":scheme", "https"), (":path", "/"), (":authority", "localhost"),
    ]
    static let waiting = [
        (":method", "POST"), (":scheme", "https"), (":path", "/wait"), (":authority", "localhost"),
    ]

    /// A HEADERS frame with END_HEADERS and, unless a body follows, END_STREAM.
    static func headers(
        _ stream: Int32, _ fields: [(String, String)] = request, ends: Bool = true
    ) -> [UInt8] {
        frame(1, flags: ends ? 5 : 4, stream: stream, block(fields))
    }

    static func data(_ stream: Int32, _ count: Int = 1, ends: Bool = true) -> [UInt8] {
        frame(0, flags: ends ? 1 : 0, stream: stream, [UInt8](repeating: 0x20, count: count))
    }

    static func number(_ value: UInt32) -> [UInt8] { [24, 16, 8, 0].map { UInt8(value >> $0 & 0xff) } }

    static func setting(_ id: UInt8, _ value: UInt32) -> [UInt8] { frame(4, [0, id] + number(value)) }

    static func window(_ stream: Int32, _ increment: UInt32) -> [UInt8] {
        frame(8, stream: stream, number(increment))
    }

    /// Encodes the fields as literals without indexing (RFC 7541, section 6.2.2).
    static func block(_ fields: [(String, String)]) -> [UInt8] {
        fields.flatMap { [0] + text($0.0) + text($0.1) }
    }

    private static func text(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        guard bytes.count >= 127 else { return [UInt8(bytes.count)] + bytes }
        var (length, rest): ([UInt8], Int) = ([127], bytes.count - 127)
        while rest >= 128 {
            length.append(UInt8(rest % 128 + 128))
            rest /= 128
        }
        return length + [UInt8(rest)] + bytes
    }
}
