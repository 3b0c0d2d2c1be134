/// An event of a server session.
package enum ServerEvent {
    /// A whole request. It needs ``ServerSession/respond(to:_:body:)`` or a reset.
    case request(ServerRequest)
    /// A stream ended before its answer was sent whole: reset by either side, or above our GOAWAY.
    /// `wasRequested` tells whether its request had come whole.
    case closed(stream: Int32, code: UInt32, wasRequested: Bool)
    /// A request was refused unread, and its stream reset.
    case refused(stream: Int32, why: UnreadRefusal)
    case settings(PeerSettings)
    case goAway(code: UInt32, debug: [UInt8])
    case ping(UInt64)
    /// We end the session, because the peer broke the protocol.
    case failed(HTTP2Error)
}

/// Why a request is refused before it has come whole.
package enum UnreadRefusal: Sendable {
    /// The stream is above our limit of streams, which the client has not acknowledged yet.
    case aboveLimit
    /// The header list is larger than our SETTINGS_MAX_HEADER_LIST_SIZE, or has too many fields.
    case headerListTooLarge
}

/// A whole request. Its bytes are valid until the session is next asked for an event.
package struct ServerRequest {
    package let stream: Int32
    let content: UnsafeMutablePointer<RequestContent>

    /// The value of a field, of its first occurrence; nil if it is absent.
    package func value(_ field: RequestField) -> UnsafeRawBufferPointer? {
        content.pointee.value(field)
    }

    /// The body, of which the session's `bodyLimit` first bytes are kept.
    package var body: UnsafeRawBufferPointer { content.pointee.body }

    /// Bytes of body that came, kept or not.
    package var bodyCount: Int { content.pointee.bodyCount }

    /// Whether a field came more than once. `cookie` may (RFC 9113, section 8.2.3).
    package var hasRepeatedFields: Bool { content.pointee.hasRepeatedFields }

}
