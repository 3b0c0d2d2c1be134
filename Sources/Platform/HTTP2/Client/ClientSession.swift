import CNghttp2

/// The client's side of an HTTP/2 connection, without I/O. The session takes bytes and produces bytes and events.
///
/// After each ``receive(_:)`` and ``fill(_:)`` read all events with ``nextEvent()``. Every submitted request ends in exactly
/// one `.responded` or `.closed`.
package final class ClientSession {
    private var engine: Engine
    private let state: UnsafeMutablePointer<ClientState>
    private var isAbandoned = false

    package init(settings: SessionSettings = SessionSettings()) {
        state = .allocate(capacity: 1)
        state.initialize(to: ClientState())
        engine = Engine(nghttp2_session_client_new2, state: state, configure: Self.configure)
        engine.submit(settings: settings.entries(pushDisabled: true))
        engine.widenConnectionWindow(to: settings.connectionWindowSize)
    }

    deinit {
        // `engine` is freed after this deinitializer has run. libnghttp2 calls no callbacks while it frees a session, so `state`
        // may be freed before `engine`.
        state.pointee.close()
        state.deinitialize(count: 1)
        state.deallocate()
    }

    // MARK: Bytes

    /// Processes all bytes that came from the peer.
    package func receive(_ bytes: UnsafeRawBufferPointer) throws(HTTP2Error) {
        try engine.receive(bytes)
    }

    /// Writes as much output as fits into `buffer`.
    package func fill(_ buffer: UnsafeMutableRawBufferPointer) throws(HTTP2Error) -> Int {
        if isAbandoned { return 0 }
        return try engine.fill(buffer) { [state] frame in
            guard frame.count >= 9, frame[3] == Frame.headers else { return frame }
            return state.pointee.headers.frame(insteadOf: frame)
        }
    }

    package var wantsWrite: Bool { !isAbandoned && engine.wantsWrite }

    /// True if the session has nothing more to read or write, so the connection can be closed.
    package var isFinished: Bool { isAbandoned || engine.isFinished }

    /// The next event; nil if there is none. After this call, do not use the bytes of earlier responses.
    package func nextEvent() -> ClientEvent? {
        state.pointee.nextEvent()
    }

    // MARK: Requests

    package enum Submission: Equatable {
        case opened(stream: Int32)
        /// The peer's limit of open streams is reached.
        case full
        /// The session takes no new requests: GOAWAY was sent or received, or stream numbers are used up.
        case closing
    }

    /// Queues a request. `body` is copied, so the caller may free it at once.
    /// A body that equals the body of the previous request is not copied again.
    /// - Parameter tag: a number of the caller. The last event of the stream contains this number.
    package func submit(_ headers: HeaderBlock, body: UnsafeRawBufferPointer, tag: UInt32) -> Submission {
        if isAbandoned || state.pointee.isGoingAway { return .closing }
        if openStreams >= remoteMaxConcurrentStreams { return .full }
        let slot = state.pointee.streams.take()
        slot.pointee.tag = tag
        slot.pointee.upload = state.pointee.bodies.keep(body)
        var source = nghttp2_data_provider(
            source: nghttp2_data_source(ptr: slot), read_callback: Self.readBody)
        let stream = withUnsafePointer(to: &source) { source in
            nghttp2_submit_request(
                engine.session, nil, nil, 0, body.isEmpty ? nil : source, slot)
        }
        guard stream > 0 else {
            state.pointee.bodies.release(&slot.pointee.upload)
            state.pointee.streams.release(slot)
            precondition(
                stream == NGHTTP2_ERR_STREAM_ID_NOT_AVAILABLE.rawValue, "libnghttp2 did not queue a request")
            return .closing
        }
        slot.pointee.id = stream
        state.pointee.headers.append(headers, stream: stream)
        return .opened(stream: stream)
    }

    /// Resets a stream. The stream's `.closed` event follows after the reset is written, or at once if the request was not sent
    /// yet. Does nothing if the stream is closed.
    package func reset(_ stream: Int32, code: UInt32 = ErrorCode.cancel) {
        engine.reset(stream, code: code)
        // libnghttp2 reports the end of an unsent request only when the peer's limit allows one more stream. This may never
        // happen, so the session ends the stream itself.
        state.pointee.cancelled(stream, in: engine.session)
    }

    /// Whether at least a part of the open stream's request was sent.
    package func hasLeft(_ stream: Int32) -> Bool {
        nghttp2_session_find_stream(engine.session, stream) != nil
    }

    /// The number of submitted streams that have not ended.
    package var openStreams: Int { state.pointee.streams.used }

    /// The number of streams that the peer allows at a time; 0 before its first settings.
    package var remoteMaxConcurrentStreams: Int {
        Int(state.pointee.peer?.maxConcurrentStreams ?? 0)
    }

    /// True if GOAWAY was sent or received. The session then accepts no new requests.
    package var isGoingAway: Bool { state.pointee.isGoingAway }

    /// Whether `apns-id` and `apns-unique-id` of responses are kept for ``Response``.
    package var keepsIdentifiers: Bool {
        get { state.pointee.keepsIdentifiers }
        set { state.pointee.keepsIdentifiers = newValue }
    }

    // MARK: Connection

    package func ping(_ number: UInt64) {
        engine.ping(number)
    }

    /// Sends GOAWAY. After the call, the session opens no new streams. Open streams continue.
    package func goAway(code: UInt32 = ErrorCode.none) {
        state.pointee.goAwaysQueued += 1
        engine.goAway(lastStream: 0, code: code, debug: UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// Ends every open stream with `.closed` because the connection is lost. The session cannot be used after this call.
    package func abandon() {
        guard !isAbandoned else { return }
        isAbandoned = true
        state.pointee.abandon(in: engine.session)
    }
}

/// An event of a client session.
package enum ClientEvent {
    /// A complete response. This event is the last event of the stream.
    case responded(Response)
    /// The stream ended without a complete response. `unprocessed` is true if the peer certainly did not process the request:
    /// the peer refused the stream, the stream is above GOAWAY's last stream, or the request was never sent.
    case closed(tag: UInt32, stream: Int32, code: UInt32, unprocessed: Bool)
    /// The peer's first settings have arrived, or its settings have changed.
    case settings(PeerSettings)
    /// The peer accepts no new streams. Streams above `lastStream` end as `.closed`; other streams may still get a response.
    case goAway(lastStream: Int32, code: UInt32, debug: [UInt8])
    case pong(UInt64)
    /// This side ends the session because the peer broke the protocol.
    case failed(HTTP2Error)
}

/// A complete response. The response's bytes are valid until the next call of ``ClientSession/nextEvent()``.
package struct Response {
    package let tag: UInt32
    package let stream: Int32
    package let status: UInt16
    /// The seconds of the `retry-after` header, if its value is a number.
    package let retryAfter: UInt32?
    let buffer: ResponseBuffer?

    /// The first 1,024 bytes of the body; the rest is dropped.
    package var body: UnsafeRawBufferPointer { buffer?.body ?? .none }

    /// The `apns-id` header; empty unless the session keeps identifiers.
    package var messageID: UnsafeRawBufferPointer { buffer?.messageID ?? .none }

    /// The `apns-unique-id` header; empty unless the session keeps identifiers.
    package var uniqueID: UnsafeRawBufferPointer { buffer?.uniqueID ?? .none }
}

extension UnsafeRawBufferPointer {
    static var none: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }
}

extension ClientSession {
    private static func configure(_ callbacks: OpaquePointer, _ options: OpaquePointer) {
        nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            session, frame, name, nameCount, value, valueCount, _, state in
            ClientSession.state(state).pointee.header(
                of: frame!.pointee.hd.stream_id, in: session!,
                name: UnsafeRawBufferPointer(start: name, count: nameCount),
                value: UnsafeRawBufferPointer(start: value, count: valueCount))
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) {
            session, _, stream, bytes, count, state in
            ClientSession.state(state).pointee.body(
                of: stream, in: session!, UnsafeRawBufferPointer(start: bytes, count: count))
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { session, frame, state in
            ClientSession.state(state).pointee.received(frame!, in: session!)
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, state in
            ClientSession.state(state).pointee.sent(frame!)
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks) { session, frame, _, state in
            ClientSession.state(state).pointee.notSent(frame!, in: session!)
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { session, stream, code, state in
            ClientSession.state(state).pointee.closed(stream, code: code, in: session!)
            return 0
        }
        // Until the server's first settings arrive, the client may open only one stream.
        nghttp2_option_set_peer_max_concurrent_streams(options, 1)
    }

    /// Passes the next piece of a request's body to libnghttp2.
    static let readBody: nghttp2_data_source_read_callback = { _, _, room, count, flags, source, _ in
        let slot = source!.pointee.ptr.assumingMemoryBound(to: ClientStream.self)
        let moved = slot.pointee.upload.move(into: UnsafeMutableRawBufferPointer(start: room, count: count))
        if slot.pointee.upload.count == 0 { flags!.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
        return moved
    }

    private static func state(_ data: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<ClientState> {
        data!.assumingMemoryBound(to: ClientState.self)
    }
}
