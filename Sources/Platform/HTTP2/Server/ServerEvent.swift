/// An event of a server session.
package enum ServerEvent {
    /// A complete request. Respond to the request with ``ServerSession/respond(to:_:body:)``, or reset the request's stream.
    case request(ServerRequest)
    /// A stream ended before its response was sent completely: one side reset the stream, or this side sent a GOAWAY with a lower
    /// last stream. `wasRequested` is true if the complete request had arrived before the end of the stream.
    case closed(stream: Int32, code: UInt32, wasRequested: Bool)
    /// A request was refused before it had arrived completely, and its stream was reset.
    case refused(stream: Int32, why: UnreadRefusal)
    case settings(PeerSettings)
    case goAway(code: UInt32, debug: [UInt8])
    case ping(UInt64)
    /// This side ends the session because the peer broke the protocol.
    case failed(HTTP2Error)
}

/// Why a request is refused before it has arrived completely.
package enum UnreadRefusal: Sendable {
    /// This side has lowered the limit of streams, and the client opened the stream before it acknowledged the new limit.
    case aboveLimit
    /// The header list is larger than this side's SETTINGS_MAX_HEADER_LIST_SIZE, or has too many fields.
    case headerListTooLarge
}

/// A complete request. The request's bytes are valid until the next call of ``ServerSession/nextEvent()``.
package struct ServerRequest {
    package let stream: Int32
    let content: UnsafeMutablePointer<RequestContent>

    /// The value of the first occurrence of a field; nil if the field is absent.
    package func value(_ field: RequestField) -> UnsafeRawBufferPointer? {
        content.pointee.value(field)
    }

    /// The part of the body that the session has kept: at most the session's `bodyLimit` bytes.
    package var body: UnsafeRawBufferPointer { content.pointee.body }

    /// The number of received body bytes, kept or not.
    package var bodyCount: Int { content.pointee.bodyCount }

    /// Whether a field occurred more than once. Only `cookie` may be repeated (RFC 9113, section 8.2.3).
    package var hasRepeatedFields: Bool { content.pointee.hasRepeatedFields }

}
