import CNghttp2

/// What the peer's SETTINGS say at present, every frame so far applied.
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
