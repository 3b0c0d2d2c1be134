import CNghttp2

/// The settings of our first SETTINGS frame, and the flow-control windows.
package struct SessionSettings: Sendable {
    /// Bytes that the peer may send on a stream before we give it more, 0...2^31-1.
    package var initialWindowSize: UInt32 = 65_535
    /// The same for the whole connection. At least 65,535, which is what the protocol starts with.
    package var connectionWindowSize: Int32 = 65_535
    /// The largest frame payload that we accept, 16,384...16,777,215 bytes.
    package var maxFrameSize: UInt32 = 16_384
    /// The table with which the peer may compress headers towards us, bytes.
    package var headerTableSize: UInt32 = 4_096
    /// Streams that the peer may have open; nil leaves it without a limit.
    package var maxConcurrentStreams: UInt32?
    /// Advice to the peer on the size of a header list, bytes.
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
    /// `UInt32.max` when the peer sets no limit.
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
