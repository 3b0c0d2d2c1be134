import CNghttp2

extension ServerSession {
    /// Makes a session whose callbacks record into `state`.
    static func makeSession(_ state: UnsafeMutablePointer<ServerState>) -> OpaquePointer {
        var callbacks: OpaquePointer?
        var options: OpaquePointer?
        var session: OpaquePointer?
        nghttp2_session_callbacks_new(&callbacks)
        nghttp2_option_new(&options)
        guard let callbacks, let options else { preconditionFailure("no memory for an HTTP/2 session") }
        defer {
            nghttp2_session_callbacks_del(callbacks)
            nghttp2_option_del(options)
        }
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
        // libnghttp2 leaves invalid fields out and goes on; RFC 9113, section 8.2.1, calls the request malformed.
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
        nghttp2_option_set_no_closed_streams(options, 1)
        // A client gives up on silent streams by resetting them, thousands at a time when a gateway hangs.
        nghttp2_option_set_stream_reset_rate_limit(options, 100_000, 10_000)
        guard nghttp2_session_server_new2(&session, callbacks, state, options) == 0, let session else {
            preconditionFailure("no memory for an HTTP/2 session")
        }
        return session
    }

    /// Hands libnghttp2 the next piece of an answer's body.
    static let readBody: nghttp2_data_source_read_callback = { _, _, room, count, flags, source, _ in
        let slot = source!.pointee.ptr.assumingMemoryBound(to: ServerStream.self)
        let moved = slot.pointee.answer.move(into: UnsafeMutableRawBufferPointer(start: room, count: count))
        if slot.pointee.answer.count == 0 { flags!.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
        return moved
    }

    private static func state(_ data: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<ServerState> {
        data!.assumingMemoryBound(to: ServerState.self)
    }
}
