import CNghttp2

/// The settings of this side's first SETTINGS frame, and the flow-control windows.
package struct SessionSettings: Sendable {
    /// The number of bytes that the peer may send on a stream before this side enlarges the stream's window, 0...2^31-1.
    package var initialWindowSize: UInt32 = 65_535
    /// The number of bytes that the peer may send on the connection before this side enlarges the connection's window; at least
    /// 65,535, which HTTP/2 prescribes for the start.
    package var connectionWindowSize: Int32 = 65_535
    /// The largest frame payload that this side accepts, 16,384...16,777,215 bytes.
    package var maxFrameSize: UInt32 = 16_384
    /// The size in bytes of the table that the peer may use to compress its headers.
    package var headerTableSize: UInt32 = 4_096
    /// The number of streams that the peer may have open; nil: no limit.
    package var maxConcurrentStreams: UInt32?
    /// The size in bytes of a header list that the peer should not exceed.
    package var maxHeaderListSize: UInt32?

    package init() {}

    func entries(pushDisabled: Bool) -> [nghttp2_settings_entry] {
        var entries: [nghttp2_settings_entry] = []
        func add(_ id: nghttp2_settings_id, _ value: UInt32) {
            entries.append(nghttp2_settings_entry(settings_id: Int32(id.rawValue), value: value))
        }
        add(NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, headerTableSize)
        if pushDisabled { add(NGHTTP2_SETTINGS_ENABLE_PUSH, 0) }
        if let maxConcurrentStreams { add(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, maxConcurrentStreams) }
        add(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, initialWindowSize)
        add(NGHTTP2_SETTINGS_MAX_FRAME_SIZE, maxFrameSize)
        if let maxHeaderListSize { add(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, maxHeaderListSize) }
        return entries
    }
}

/// The peer's present settings, after all its SETTINGS frames.
package struct PeerSettings: Equatable, Sendable {
    /// The maximum number of open streams; `UInt32.max` when the peer sets no limit.
    package var maxConcurrentStreams: UInt32
    package var initialWindowSize: UInt32
    package var maxFrameSize: UInt32
    package var maxHeaderListSize: UInt32
    package var headerTableSize: UInt32

    init(of session: OpaquePointer) {
        maxConcurrentStreams = nghttp2_session_get_remote_settings(
            session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
        initialWindowSize = nghttp2_session_get_remote_settings(
            session, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE)
        maxFrameSize = nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_FRAME_SIZE)
        maxHeaderListSize = nghttp2_session_get_remote_settings(
            session, NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE)
        headerTableSize = nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_HEADER_TABLE_SIZE)
    }
}
