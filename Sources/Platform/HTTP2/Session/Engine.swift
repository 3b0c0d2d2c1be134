import CNghttp2

/// Owns one `nghttp2_session` and frees it. Both a client session and a server session have an engine.
struct Engine: ~Copyable {
    let session: OpaquePointer
    /// The part of libnghttp2's latest output that ``fill(_:exchange:)`` has not written yet. The bytes stay valid until
    /// libnghttp2 is asked for more output.
    private var chunk = UnsafeRawBufferPointer(start: nil, count: 0)
    private var ended: HTTP2Error?

    typealias SessionConstructor = (
        UnsafeMutablePointer<OpaquePointer?>?, OpaquePointer?, UnsafeMutableRawPointer?, OpaquePointer?
    ) -> Int32

    /// Creates a session whose callbacks record into `state`.
    init(
        _ make: SessionConstructor, state: UnsafeMutableRawPointer,
        configure: (_ callbacks: OpaquePointer, _ options: OpaquePointer) -> Void
    ) {
        var (callbacks, options, session): (OpaquePointer?, OpaquePointer?, OpaquePointer?)
        nghttp2_session_callbacks_new(&callbacks)
        nghttp2_option_new(&options)
        guard let callbacks, let options else { preconditionFailure("no memory for an HTTP/2 session") }
        defer {
            nghttp2_session_callbacks_del(callbacks)
            nghttp2_option_del(options)
        }
        // Without this option, libnghttp2 would keep closed streams for its tree of priorities, which this program does not use.
        nghttp2_option_set_no_closed_streams(options, 1)
        configure(callbacks, options)
        guard make(&session, callbacks, state, options) == 0, let session else {
            preconditionFailure("no memory for an HTTP/2 session")
        }
        self.session = session
    }

    deinit { nghttp2_session_del(session) }

    mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(HTTP2Error) {
        if let ended { throw ended }
        guard bytes.count > 0 else { return }
        let taken = nghttp2_session_mem_recv(
            session, bytes.baseAddress!.assumingMemoryBound(to: UInt8.self), bytes.count)
        if taken < 0 { throw end(Int32(taken)) }
    }

    /// Writes serialised frames into `buffer` until the buffer is full or no output is left. Returns the number of bytes.
    ///
    /// - Parameter exchange: gets each frame that libnghttp2 has made, and returns the bytes to write instead. A client session
    ///   first gets the connection preface in place of a frame.
    mutating func fill(
        _ buffer: UnsafeMutableRawBufferPointer,
        exchange: (UnsafeRawBufferPointer) -> UnsafeRawBufferPointer = { $0 }
    ) throws(HTTP2Error) -> Int {
        if ended != nil { return 0 }
        var written = 0
        while written < buffer.count {
            if chunk.isEmpty {
                var start: UnsafePointer<UInt8>?
                let count = nghttp2_session_mem_send(session, &start)
                if count < 0 { throw end(Int32(count)) }
                if count == 0 { break }
                chunk = exchange(UnsafeRawBufferPointer(start: start, count: count))
            }
            let moved = min(chunk.count, buffer.count - written)
            (buffer.baseAddress! + written).copyMemory(from: chunk.baseAddress!, byteCount: moved)
            chunk = UnsafeRawBufferPointer(rebasing: chunk[moved...])
            written += moved
        }
        return written
    }

    var wantsWrite: Bool {
        ended == nil && (!chunk.isEmpty || nghttp2_session_want_write(session) != 0)
    }

    /// Whether the session has nothing more to read or write: after a GOAWAY when no stream is open, or after an error.
    var isFinished: Bool {
        !wantsWrite && (ended != nil || nghttp2_session_want_read(session) == 0)
    }

    func submit(settings: [nghttp2_settings_entry]) {
        Engine.mustHaveMemory(nghttp2_submit_settings(session, 0, settings, settings.count))
    }

    func widenConnectionWindow(to size: Int32) {
        guard size > 65_535 else { return }
        Engine.mustHaveMemory(nghttp2_session_set_local_window_size(session, 0, 0, size))
    }

    func reset(_ stream: Int32, code: UInt32) {
        Engine.mustHaveMemory(nghttp2_submit_rst_stream(session, 0, stream, code))
    }

    func ping(_ opaque: UInt64) {
        withUnsafeBytes(of: opaque.bigEndian) { bytes in
            Engine.mustHaveMemory(
                nghttp2_submit_ping(session, 0, bytes.baseAddress!.assumingMemoryBound(to: UInt8.self)))
        }
    }

    func goAway(lastStream: Int32, code: UInt32, debug: UnsafeRawBufferPointer) {
        Engine.mustHaveMemory(
            nghttp2_submit_goaway(
                session, 0, lastStream, code, debug.baseAddress?.assumingMemoryBound(to: UInt8.self),
                debug.count))
    }

    /// Stops the process if `result` says that libnghttp2 did not queue a frame. libnghttp2 fails to queue a frame only if memory
    /// runs out, or for arguments that no caller passes.
    static func mustHaveMemory(_ result: Int32) {
        precondition(result == 0, "libnghttp2 did not queue a frame")
    }

    private mutating func end(_ result: Int32) -> HTTP2Error {
        let error: HTTP2Error =
            switch result {
            case NGHTTP2_ERR_BAD_CLIENT_MAGIC.rawValue: .notHTTP2
            case NGHTTP2_ERR_FLOODED.rawValue: .flooded
            case NGHTTP2_ERR_NOMEM.rawValue: .outOfMemory
            default: .library(result)
            }
        ended = error
        return error
    }
}
