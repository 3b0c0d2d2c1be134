import CNghttp2

/// The server's side of an HTTP/2 connection, without the connection: bytes in, bytes and events out.
///
/// After each ``receive(_:)`` and ``fill(_:)`` drain ``nextEvent()``.
package final class ServerSession {
    private var engine: Engine
    private let state: UnsafeMutablePointer<ServerState>

    /// - Parameters:
    ///   - bodyLimit: bytes of a request's body that are kept; the rest is only counted.
    ///   - streamLimitText: debug text of the GOAWAY for a client that opens more streams than it was allowed, and has
    ///     acknowledged the limit; nil: libnghttp2's own.
    package init(
        settings: SessionSettings = SessionSettings(), bodyLimit: Int = 16_384, streamLimitText: String? = nil
    ) {
        state = .allocate(capacity: 1)
        state.initialize(
            to: ServerState(
                bodyLimit: bodyLimit, headerListLimit: settings.maxHeaderListSize.map { Int($0) },
                streamLimitText: streamLimitText))
        engine = Engine(Self.makeSession(state))
        engine.submit(settings: settings.entries(pushDisabled: false))
        engine.widenConnectionWindow(to: settings.connectionWindowSize)
    }

    deinit {
        // The engine goes after this body: from here on libnghttp2 calls nothing back.
        state.pointee.close()
        state.deinitialize(count: 1)
        state.deallocate()
    }

    // MARK: Bytes

    /// Takes bytes from the peer, all of them.
    ///
    /// - Throws: `HTTP2Error.violation` when a frame came on a stream that is closed or was skipped; the GOAWAY that says so is
    ///   queued. Other violations end the session with a ``ServerEvent/failed(_:)``.
    package func receive(_ bytes: UnsafeRawBufferPointer) throws(HTTP2Error) {
        guard let violation = state.pointee.streamUse.firstViolation(in: bytes) else {
            return try engine.receive(bytes)
        }
        try engine.receive(UnsafeRawBufferPointer(rebasing: bytes[..<violation.offset]))
        Array(violation.text.utf8).withUnsafeBytes { goAway(code: violation.code, debug: $0) }
        throw .violation(code: violation.code, text: violation.text)
    }

    /// Writes what is to be sent into `buffer`, as much as fits; answers how many bytes. 0: nothing waits.
    package func fill(_ buffer: UnsafeMutableRawBufferPointer) throws(HTTP2Error) -> Int {
        try engine.fill(buffer) { [state] frame in
            guard frame.count >= Frame.goAwayHead, frame[3] == Frame.goAway else { return frame }
            return state.pointee.goAwayFrame(insteadOf: frame)
        }
    }

    package var wantsWrite: Bool { engine.wantsWrite }

    /// Nothing more will be read or written: close the connection.
    package var isFinished: Bool { engine.isFinished }

    /// The next thing that happened; the bytes of the one before are gone.
    package func nextEvent() -> ServerEvent? {
        state.pointee.nextEvent()
    }

    // MARK: Answers

    /// Queues the answer to a request. `body` is copied; without one the answer is a single HEADERS frame.
    /// - Returns: false if the stream has been closed in the meantime, or has its answer already.
    @discardableResult
    package func respond(
        to stream: Int32, _ headers: HeaderBlock,
        body: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
    ) -> Bool {
        guard let slot = state.pointee.stream(stream, in: engine.session), !slot.pointee.isAnswered else {
            return false
        }
        slot.pointee.isAnswered = true
        slot.pointee.answer = state.pointee.bodies.keep(body)
        let fields = headers.present
        var source = nghttp2_data_provider(
            source: nghttp2_data_source(ptr: slot), read_callback: Self.readBody)
        let result = withUnsafePointer(to: &source) { source in
            nghttp2_submit_response(
                engine.session, stream, fields.baseAddress, fields.count, body.isEmpty ? nil : source)
        }
        precondition(result == 0, "malformed header block")
        engine.retain(headers)
        return true
    }

    /// Resets a stream instead of answering it, or in the middle of its answer.
    package func reset(_ stream: Int32, code: UInt32) {
        engine.reset(stream, code: code)
    }

    /// Says with the reset that nothing was done about the request.
    package func refuse(_ stream: Int32) {
        reset(stream, code: ErrorCode.refusedStream)
    }

    /// Streams that the client opened and that are not closed yet.
    package var openStreams: Int { state.pointee.streams.used }

    // MARK: Connection

    /// Sends new SETTINGS. Streams that the client opened above a lowered limit before it knew are refused.
    package func setMaxConcurrentStreams(_ limit: UInt32) {
        engine.submit(settings: [
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: limit)
        ])
    }

    /// Warns with a GOAWAY that names no last stream; new streams are still taken until the real one.
    package func announceGoAway() {
        state.pointee.goAwaysQueued += 1
        Engine.mustHaveMemory(nghttp2_submit_shutdown_notice(engine.session))
    }

    /// Takes no streams above `lastStream` and closes those that are open; the others can still be answered.
    /// - Parameter lastStream: a stream that the client opened; by default the newest.
    package func goAway(
        lastStream: Int32? = nil, code: UInt32 = ErrorCode.none,
        debug: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
    ) {
        state.pointee.goAwaysQueued += 1
        engine.goAway(lastStream: lastStream ?? newestStream, code: code, debug: debug)
    }

    /// The newest stream that the client has opened; 0 if none.
    package var newestStream: Int32 { nghttp2_session_get_last_proc_stream_id(engine.session) }

    package func ping(_ number: UInt64) {
        engine.ping(number)
    }

    /// Nil before the client's first settings.
    package var peerSettings: PeerSettings? { state.pointee.peer }
}
