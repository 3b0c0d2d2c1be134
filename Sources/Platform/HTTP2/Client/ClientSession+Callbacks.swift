import CNghttp2

extension ClientSession {
    /// Makes a session whose callbacks record into `state`.
    static func makeSession(_ state: UnsafeMutablePointer<ClientState>) -> OpaquePointer {
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
        // Without this every closed stream would be kept for a while, for a priority tree that is not used.
        nghttp2_option_set_no_closed_streams(options, 1)
        // Until the server's first settings arrive.
        nghttp2_option_set_peer_max_concurrent_streams(options, 1)
        guard nghttp2_session_client_new2(&session, callbacks, state, options) == 0, let session else {
            preconditionFailure("no memory for an HTTP/2 session")
        }
        return session
    }

    /// Hands libnghttp2 the next piece of a request's body.
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
