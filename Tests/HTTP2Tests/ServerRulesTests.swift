import HTTP2
import Testing

/// Checks how the server reacts to a client that breaks a rule of RFC 9113, sections 4 to 8.
/// Each row sends raw frames for one rule.
@Suite struct ServerRulesTests {
    enum Outcome: Equatable {
        /// The server sends GOAWAY with this code.
        case connection(UInt32)
        /// The server sends RST_STREAM for stream 1 with this code, and the connection continues.
        case stream(UInt32)
        /// The server sends no error, and the connection continues.
        case fine
    }

    struct Rule: CustomTestStringConvertible, Sendable {
        let section: String
        let name: String
        let outcome: Outcome
        let frames: [[UInt8]]

        init(_ section: String, _ name: String, _ outcome: Outcome, _ frames: [UInt8]...) {
            (self.section, self.name, self.outcome, self.frames) = (section, name, outcome, frames)
        }

        var testDescription: String { "\(section) \(name)" }
    }

    private static let large = [UInt8](repeating: 0, count: 16_385)
    private typealias Raw = RawClient

    private static func request(_ changes: (String, String)...) -> [(String, String)] {
        Raw.request.filter { field in !changes.contains { $0.0 == field.0 } }
            + changes.filter { !$0.1.isEmpty }
    }

    private static func malformed(_ section: String, _ name: String, _ fields: [(String, String)]) -> Rule {
        Rule(section, name, .stream(ErrorCode.protocolError), Raw.headers(1, fields))
    }

    static let frameRules = [
        Rule("4.2", "a frame above SETTINGS_MAX_FRAME_SIZE", .connection(6), Raw.frame(0, stream: 1, large)),
        Rule(
            "4.3", "a field block that cannot be decoded", .connection(9),
            Raw.frame(1, flags: 5, stream: 1, [0xff, 0xff, 0x7f])),
        Rule("4.1", "a frame of an unknown type", .fine, Raw.frame(0x42, flags: 0xff, stream: 7, [1, 2, 3])),
        Rule("6.1", "DATA on stream 0", .connection(1), Raw.data(0)),
        Rule(
            "6.1", "padding as long as DATA", .connection(1), Raw.headers(1, ends: false),
            Raw.frame(0, flags: 9, stream: 1, [2, 0])),
        Rule("6.2", "HEADERS on stream 0", .connection(1), Raw.headers(0)),
        Rule(
            "6.2", "padding as long as HEADERS", .connection(1),
            Raw.frame(1, flags: 0xd, stream: 1, [9, 0x83])),
        Rule(
            "6.2", "another frame within a field block", .connection(1),
            Raw.frame(1, flags: 1, stream: 1, Raw.block(Raw.request)),
            Raw.frame(6, [UInt8](repeating: 0, count: 8))),
        Rule(
            "6.2", "CONTINUATION of another stream", .connection(1),
            Raw.frame(1, flags: 1, stream: 1, Raw.block(Raw.request)), Raw.frame(9, flags: 4, stream: 3, [])),
        Rule(
            "6.2", "a field block in two frames", .fine,
            Raw.frame(1, flags: 1, stream: 1, Raw.block(Raw.request)), Raw.frame(9, flags: 4, stream: 1, [])),
        Rule("6.3", "PRIORITY on stream 0", .connection(1), Raw.frame(2, [0, 0, 0, 0, 1])),
        Rule("6.3", "PRIORITY of four bytes", .connection(6), Raw.frame(2, stream: 1, [0, 0, 0, 0])),
        Rule("6.3", "PRIORITY on an idle stream", .fine, Raw.frame(2, stream: 9, [0, 0, 0, 0, 1])),
        Rule("6.4", "RST_STREAM on stream 0", .connection(1), Raw.frame(3, Raw.number(8))),
        Rule(
            "6.4", "RST_STREAM of three bytes", .connection(6), Raw.headers(1, Raw.waiting),
            Raw.frame(3, stream: 1, [0, 0, 8])),
        Rule("6.5", "SETTINGS on a stream", .connection(1), Raw.frame(4, stream: 1, [])),
        Rule("6.5", "SETTINGS of five bytes", .connection(6), Raw.frame(4, [0, 1, 2, 3, 4])),
        Rule(
            "6.5", "an acknowledgement with content", .connection(6),
            Raw.frame(4, flags: 1, [0, 3, 0, 0, 0, 1])),
        Rule("6.5.2", "ENABLE_PUSH of 2", .connection(1), Raw.setting(2, 2)),
        Rule("6.5.2", "INITIAL_WINDOW_SIZE of 2^31", .connection(3), Raw.setting(4, 0x8000_0000)),
        Rule("6.5.2", "MAX_FRAME_SIZE below 16,384", .connection(1), Raw.setting(5, 16_383)),
        Rule("6.5.2", "MAX_FRAME_SIZE of 2^24", .connection(1), Raw.setting(5, 0x100_0000)),
        Rule("6.5.2", "an unknown setting", .fine, Raw.setting(0x7f, 1)),
        Rule(
            "6.6", "PUSH_PROMISE from a client", .connection(1), Raw.headers(1, Raw.waiting),
            Raw.frame(5, flags: 4, stream: 1, [0, 0, 0, 2, 0x83])),
        Rule(
            "6.7", "PING on a stream", .connection(1),
            Raw.frame(6, stream: 1, [UInt8](repeating: 0, count: 8))),
        Rule("6.7", "PING of seven bytes", .connection(6), Raw.frame(6, [UInt8](repeating: 0, count: 7))),
        Rule(
            "6.8", "GOAWAY on a stream", .connection(1),
            Raw.frame(7, stream: 1, [UInt8](repeating: 0, count: 8))),
        Rule("6.8", "GOAWAY of seven bytes", .connection(6), Raw.frame(7, [UInt8](repeating: 0, count: 7))),
        Rule("6.9", "a window grows by 0 on the connection", .connection(1), Raw.window(0, 0)),
        Rule(
            "6.9", "a window grows by 0 on a stream", .connection(1), Raw.headers(1, Raw.waiting),
            Raw.window(1, 0)),
        Rule("6.9", "WINDOW_UPDATE of three bytes", .connection(6), Raw.frame(8, [0, 0, 1])),
        Rule("6.9.1", "a connection's window above 2^31 - 1", .connection(3), Raw.window(0, 0x7fff_ffff)),
        Rule(
            "6.9.1", "a stream's window above 2^31 - 1", .stream(3), Raw.headers(1, Raw.waiting),
            Raw.window(1, 0x7fff_ffff)),
        Rule(
            "6.9.2", "a changed window above 2^31 - 1", .stream(3), Raw.headers(1, Raw.waiting),
            Raw.window(1, 0x7000_0000), Raw.setting(4, 0x7000_0000)),
        Rule("6.10", "CONTINUATION on stream 0", .connection(1), Raw.frame(9, flags: 4, [])),
        Rule("6.10", "CONTINUATION without HEADERS", .connection(1), Raw.frame(9, flags: 4, stream: 1, [])),
    ]

    static let streamRules = [
        Rule("5.1", "DATA on an idle stream", .connection(1), Raw.data(1)),
        Rule("5.1", "RST_STREAM on an idle stream", .connection(1), Raw.frame(3, stream: 1, Raw.number(8))),
        Rule("5.1", "WINDOW_UPDATE on an idle stream", .connection(1), Raw.window(1, 1)),
        Rule("5.1", "DATA behind END_STREAM", .connection(5), Raw.headers(1, Raw.waiting), Raw.data(1)),
        Rule("5.1", "HEADERS behind END_STREAM", .connection(5), Raw.headers(1, Raw.waiting), Raw.headers(1)),
        Rule(
            "5.1", "DATA behind a body with END_STREAM", .connection(5),
            Raw.headers(1, Raw.waiting, ends: false), Raw.data(1), Raw.data(1)),
        Rule("5.1", "DATA on a stream that was answered", .connection(5), Raw.headers(1), Raw.data(1)),
        Rule("5.1", "HEADERS on a stream that was answered", .connection(5), Raw.headers(1), Raw.headers(1)),
        Rule(
            "5.1", "DATA behind RST_STREAM", .connection(5), Raw.headers(1, ends: false),
            Raw.frame(3, stream: 1, Raw.number(8)), Raw.data(1)),
        Rule(
            "5.1", "WINDOW_UPDATE and RST_STREAM on a stream that was answered", .fine, Raw.headers(1),
            Raw.window(1, 1), Raw.frame(3, stream: 1, Raw.number(8))),
        Rule(
            "5.1", "PRIORITY on a stream that was answered", .fine, Raw.headers(1),
            Raw.frame(2, stream: 1, [0, 0, 0, 0, 1])),
        Rule("5.1.1", "a stream of the server's", .connection(1), Raw.headers(2)),
        Rule("5.1.1", "HEADERS on a stream that was skipped", .connection(1), Raw.headers(5), Raw.headers(3)),
        Rule("5.1.1", "DATA on a stream that was skipped", .connection(1), Raw.headers(5), Raw.data(1)),
        Rule(
            "5.1.1", "RST_STREAM on a stream that was skipped", .connection(1), Raw.headers(5),
            Raw.frame(3, stream: 3, Raw.number(8))),
        Rule("5.1.1", "streams that are skipped", .fine, Raw.headers(5), Raw.headers(11)),
        Rule(
            "5.1.2", "a stream above the limit", .connection(1), Raw.headers(1, Raw.waiting),
            Raw.headers(3, Raw.waiting), Raw.headers(5, Raw.waiting), Raw.headers(7, Raw.waiting)),
        Rule(
            "5.5", "an unknown frame within a field block", .connection(1),
            Raw.frame(1, flags: 1, stream: 1, Raw.block(Raw.request)), Raw.frame(0x42, stream: 1, [])),
    ]

    static let messageRules = [
        Rule(
            "8.1", "a second field block without END_STREAM", .stream(1), Raw.headers(1, ends: false),
            Raw.headers(1, [("x", "y")], ends: false)),
        Rule(
            "8.1", "trailers with a pseudo-header field", .stream(1), Raw.headers(1, ends: false),
            Raw.headers(1, [(":path", "/")])),
        Rule("8.1", "trailers", .fine, Raw.headers(1, ends: false), Raw.headers(1, [("x", "y")])),
        Rule(
            "8.1.1", "less content than content-length", .stream(1),
            Raw.headers(1, request(("content-length", "2")), ends: false), Raw.data(1)),
        Rule(
            "8.1.1", "more content than content-length", .stream(1),
            Raw.headers(1, request(("content-length", "2")), ends: false), Raw.data(1, 3)),
        malformed("8.1.1", "content-length that is no number", request(("content-length", "2a"))),
        malformed("8.2.1", "a field name in upper case", request(("X-Name", "y"))),
        malformed("8.2.1", "a space in a field name", request(("x name", "y"))),
        malformed("8.2.1", "a colon in a field name", request(("x:name", "y"))),
        malformed(
            "8.2.1", "an empty field name",
            [(":method", "POST"), (":scheme", "https"), (":path", "/"), ("", "y")]),
        malformed("8.2.1", "a line feed in a value", request(("x", "a\nb"))),
        malformed("8.2.1", "a NUL in a value", request(("x", "a\0b"))),
        malformed("8.2.1", "white space before a value", request(("x", " a"))),
        malformed("8.2.1", "white space behind a value", request(("x", "a\t"))),
        malformed("8.2.2", "connection", request(("connection", "close"))),
        malformed("8.2.2", "keep-alive", request(("keep-alive", "5"))),
        malformed("8.2.2", "proxy-connection", request(("proxy-connection", "close"))),
        malformed("8.2.2", "transfer-encoding", request(("transfer-encoding", "chunked"))),
        malformed("8.2.2", "upgrade", request(("upgrade", "h2c"))),
        malformed("8.2.2", "te other than trailers", request(("te", "gzip"))),
        Rule("8.2.2", "te: trailers", .fine, Raw.headers(1, request(("te", "trailers")))),
        malformed(
            "8.3", "a pseudo-header field behind others", Raw.request + [("x", "y"), (":authority", "a")]),
        malformed("8.3", "an unknown pseudo-header field", request((":x", "y"))),
        malformed("8.3", "a pseudo-header field of responses", request((":status", "200"))),
        malformed("8.3", "a pseudo-header field twice", Raw.request + [(":path", "/")]),
        malformed("8.3.1", "no :method", request((":method", ""))),
        malformed("8.3.1", "no :scheme", request((":scheme", ""))),
        malformed("8.3.1", "no :path", request((":path", ""))),
        malformed(
            "8.3.1", "an empty :path",
            [(":method", "POST"), (":scheme", "https"), (":path", ""), ("host", "a")]),
        malformed("8.3.1", "a :path that does not begin with a slash", request((":path", "3/device"))),
        malformed("8.5", "CONNECT with a path", request((":method", "CONNECT"))),
    ]

    /// The test sends the bytes at once, and then in pieces of five bytes. Smaller pieces would make libnghttp2 fail: it counts
    /// the pieces in which the header of a CONTINUATION frame arrives, and allows eight.
    @Test(arguments: frameRules + streamRules + messageRules, [Int.max, 5])
    func `the server reacts to each broken rule`(rule: Rule, piece: Int) {
        var settings = SessionSettings()
        settings.maxConcurrentStreams = 3
        let client = RawClient(settings)
        for frame in rule.frames { client.send(frame, piece: piece) }
        switch rule.outcome {
        case .connection(let code): #expect(client.goAways == [code])
        case .stream(let code):
            #expect(client.resets(of: 1) == [code])
            #expect(!client.hasResponse(1))
        case .fine: #expect(client.resets(of: 1) == [])
        }
        guard case .connection = rule.outcome else {
            client.send(RawClient.headers(101))
            #expect(client.goAways == [] && client.hasResponse(101), "\(String(describing: client.failure))")
            return
        }
    }

    @Test func `DATA beyond the window of a stream resets the stream`() {
        var settings = SessionSettings()
        settings.initialWindowSize = 1_000
        let client = RawClient(settings)
        client.send(
            RawClient.headers(1, RawClient.waiting, ends: false) + RawClient.data(1, 1_000, ends: false))
        #expect(client.goAways == [] && client.resets(of: 1) == [])
        client.send(RawClient.headers(3, RawClient.waiting, ends: false) + RawClient.data(3, 1_001))
        #expect(client.resets(of: 3) == [0x3], "FLOW_CONTROL_ERROR")
    }

    @Test func `a client that opens too many streams gets the reason`() {
        var settings = SessionSettings()
        settings.maxConcurrentStreams = 1
        let client = RawClient(settings, streamLimitText: "too many streams")
        client.send(RawClient.headers(1, RawClient.waiting) + RawClient.headers(3))
        #expect(client.goAways == [ErrorCode.protocolError])
        #expect(client.goAwayTexts == ["too many streams"])
    }

    @Test func `before the limit is acknowledged only the extra stream is refused`() {
        var settings = SessionSettings()
        settings.maxConcurrentStreams = 1
        let client = RawClient(settings, acknowledges: false)
        client.send(RawClient.headers(1, RawClient.waiting) + RawClient.headers(3, ends: false))
        client.send(RawClient.data(3))
        #expect(client.resets(of: 3) == [ErrorCode.refusedStream] && client.unread == [.aboveLimit])
        #expect(client.goAways == [])
    }

    @Test(arguments: [(7_900, true), (8_000, false)])
    func `a header list above the limit ends its stream only`(size: Int, isAccepted: Bool) {
        var settings = SessionSettings()
        settings.maxHeaderListSize = 8_000
        let client = RawClient(settings)
        let used = (RawClient.request + [("x", "")]).reduce(0) { $0 + $1.0.utf8.count + $1.1.utf8.count + 32 }
        let filler = ("x", String(repeating: "y", count: size - used + (isAccepted ? 100 : 1)))
        client.send(RawClient.headers(1, RawClient.request + [filler]))
        #expect(client.hasResponse(1) == isAccepted)
        #expect(client.unread == (isAccepted ? [] : [.headerListTooLarge]))
        client.send(RawClient.headers(3))
        #expect(client.hasResponse(3) && client.goAways == [])
    }

    @Test func `a stream that the server has reset may still receive frames in flight`() {
        let client = RawClient()
        client.send(RawClient.headers(1, ends: false))
        client.server.refuse(1)
        client.send(RawClient.data(1, ends: false) + RawClient.data(1))
        #expect(client.goAways == [] && client.resets(of: 1) == [ErrorCode.refusedStream])
        client.send(RawClient.data(1))
        #expect(client.goAways == [ErrorCode.streamClosed])
    }
}
