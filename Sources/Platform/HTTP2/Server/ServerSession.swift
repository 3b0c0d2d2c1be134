import CNghttp2

/// The server's side of an HTTP/2 connection, without I/O. The session takes bytes and produces bytes and events.
///
/// After each ``receive(_:)`` and ``fill(_:)`` read all events with ``nextEvent()``.
package final class ServerSession {
    private var engine: Engine
    private let state: UnsafeMutablePointer<ServerState>

    /// - Parameters:
    ///   - bodyLimit: the number of bytes that are kept of a request's body. Further bytes are only counted.
    ///   - streamLimitText: the debug text of the GOAWAY for a client that has acknowledged a limit of streams and opens more
    ///     streams. If this is nil, libnghttp2's own text is used.
    package init(
        settings: SessionSettings = SessionSettings(), bodyLimit: Int = 16_384, streamLimitText: String? = nil
    ) {
        state = .allocate(capacity: 1)
        state.initialize(
            to: ServerState(
                bodyLimit: bodyLimit, headerListLimit: settings.maxHeaderListSize.map { Int($0) },
                streamLimitText: streamLimitText))
        engine = Engine(nghttp2_session_server_new2, state: state, configure: Self.configure)
        engine.submit(settings: settings.entries(pushDisabled: false))
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
    ///
    /// - Throws: `HTTP2Error.violation` after a frame on a stream that is closed or was skipped. The session then also queues a
    ///   GOAWAY with the reason. After any other violation of the protocol, the session throws no error, but ends with the event
    ///   ``ServerEvent/failed(_:)``.
    package func receive(_ bytes: UnsafeRawBufferPointer) throws(HTTP2Error) {
        guard let violation = state.pointee.streamUse.firstViolation(in: bytes) else {
            return try engine.receive(bytes)
        }
        try engine.receive(UnsafeRawBufferPointer(rebasing: bytes[..<violation.offset]))
        Array(violation.text.utf8).withUnsafeBytes { goAway(code: violation.code, debug: $0) }
        throw .violation(code: violation.code, text: violation.text)
    }

    /// Writes as much output as fits into `buffer`.
    package func fill(_ buffer: UnsafeMutableRawBufferPointer) throws(HTTP2Error) -> Int {
        try engine.fill(buffer) { [state] frame in
            switch frame[3] {
            case Frame.headers: state.pointee.headers.frame(insteadOf: frame)
            case Frame.goAway: state.pointee.goAwayFrame(insteadOf: frame)
            default: frame
            }
        }
    }

    package var wantsWrite: Bool { engine.wantsWrite }

    /// True if the session has nothing more to read or write, so the connection can be closed.
    package var isFinished: Bool { engine.isFinished }

    /// The next event; nil if there is none. After this call, do not use the bytes of the previous event.
    package func nextEvent() -> ServerEvent? {
        state.pointee.nextEvent()
    }

    // MARK: Responses

    /// Queues the response to a request. `body` is copied. A response without a body is a single HEADERS frame.
    /// - Returns: false if the stream is closed or already has a response.
    @discardableResult
    package func respond(
        to stream: Int32, _ headers: HeaderBlock,
        body: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
    ) -> Bool {
        guard let slot = state.pointee.streams.find(stream, in: engine.session), !slot.pointee.hasResponse
        else {
            return false
        }
        slot.pointee.hasResponse = true
        slot.pointee.responseBody = state.pointee.bodies.keep(body)
        var source = nghttp2_data_provider(
            source: nghttp2_data_source(ptr: slot), read_callback: Self.readBody)
        let result = withUnsafePointer(to: &source) { source in
            nghttp2_submit_response(engine.session, stream, nil, 0, body.isEmpty ? nil : source)
        }
        Engine.mustHaveMemory(result)
        state.pointee.headers.append(headers, stream: stream)
        return true
    }

    /// Resets a stream before or during its response.
    package func reset(_ stream: Int32, code: UInt32) {
        engine.reset(stream, code: code)
    }

    /// Resets a stream with REFUSED_STREAM, which says that the request was not processed.
    package func refuse(_ stream: Int32) {
        reset(stream, code: ErrorCode.refusedStream)
    }

    /// The number of streams that the client has opened and that are not closed.
    package var openStreams: Int { state.pointee.streams.used }

    // MARK: Connection

    /// Sends new SETTINGS. If the new limit is lower, the client may open more streams until it has received the SETTINGS. The
    /// session refuses these streams.
    package func setMaxConcurrentStreams(_ limit: UInt32) {
        engine.submit(settings: [
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: limit)
        ])
    }

    /// Sends a GOAWAY that only warns the client: its last stream is the highest possible number. The session accepts new streams
    /// until ``goAway(lastStream:code:debug:)``.
    package func announceGoAway() {
        state.pointee.goAwaysQueued += 1
        Engine.mustHaveMemory(nghttp2_submit_shutdown_notice(engine.session))
    }

    /// Sends a GOAWAY. Closes open streams above `lastStream` and refuses new streams. The streams up to `lastStream` can still
    /// get a response.
    /// - Parameter lastStream: a stream that the client opened; by default the newest.
    package func goAway(
        lastStream: Int32? = nil, code: UInt32 = ErrorCode.none,
        debug: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
    ) {
        state.pointee.goAwaysQueued += 1
        engine.goAway(lastStream: lastStream ?? newestStream, code: code, debug: debug)
    }

    /// The newest stream that the client has opened; 0 if there is none.
    package var newestStream: Int32 { nghttp2_session_get_last_proc_stream_id(engine.session) }

    package func ping(_ number: UInt64) {
        engine.ping(number)
    }
}

extension ServerSession {
    private static func configure(_ callbacks: OpaquePointer, _ options: OpaquePointer) {
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { session, frame, state in
            ServerSession.state(state).pointee.begins(frame!, in: session!)
            return 0
        }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            session, frame, name, nameCount, value, valueCount, _, state in
            ServerSession.state(state).pointee.header(
                frame!, in: session!, name: UnsafeRawBufferPointer(start: name, count: nameCount),
                value: UnsafeRawBufferPointer(start: value, count: valueCount))
        }
        // Without this callback, libnghttp2 would drop an invalid field and accept the request. RFC 9113, section 8.2.1, calls a
        // request with an invalid field malformed, so the callback resets the stream.
        nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks) {
            session, frame, _, _, _, _, _, _ in
            Engine.mustHaveMemory(
                nghttp2_submit_rst_stream(session, 0, frame!.pointee.hd.stream_id, ErrorCode.protocolError))
            return Frame.refuseThisStream
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) {
            session, _, stream, bytes, count, state in
            ServerSession.state(state).pointee.body(
                of: stream, in: session!, UnsafeRawBufferPointer(start: bytes, count: count))
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { session, frame, state in
            ServerSession.state(state).pointee.received(frame!, in: session!)
            return 0
        }
        nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks) {
            session, frame, error, state in
            ServerSession.state(state).pointee.rejected(frame!, error: error, in: session!)
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, state in
            ServerSession.state(state).pointee.sent(frame!)
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { session, stream, code, state in
            ServerSession.state(state).pointee.closed(stream, code: code, in: session!)
            return 0
        }
        // When a gateway hangs, a client may reset thousands of streams at a time. With libnghttp2's default limit for the rate
        // of resets, this would end the connection.
        nghttp2_option_set_stream_reset_rate_limit(options, 100_000, 10_000)
    }

    /// Passes the next piece of a response's body to libnghttp2.
    static let readBody: nghttp2_data_source_read_callback = { _, _, room, count, flags, source, _ in
        let slot = source!.pointee.ptr.assumingMemoryBound(to: ServerStream.self)
        let moved = slot.pointee.responseBody.move(
            into: UnsafeMutableRawBufferPointer(start: room, count: count))
        if slot.pointee.responseBody.count == 0 { flags!.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
        return moved
    }

    private static func state(_ data: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<ServerState> {
        data!.assumingMemoryBound(to: ServerState.self)
    }
}
