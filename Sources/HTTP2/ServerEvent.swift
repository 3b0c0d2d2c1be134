/// What happened on a server session, in order.
package enum ServerEvent {
    /// A whole request. It wants ``ServerSession/respond(to:_:body:)`` or a reset.
    case request(Request)
    /// A stream ended before its answer was sent whole: reset by either side, or above our GOAWAY.
    /// `wasRequested` tells whether its request had come whole.
    case closed(stream: Int32, code: UInt32, wasRequested: Bool)
    /// The client opened a stream above our limit of streams, which it has not acknowledged: it was refused
    /// unread.
    case refused(stream: Int32)
    case settings(PeerSettings)
    case goAway(code: UInt32, debug: [UInt8])
    case ping(UInt64)
    /// We end the session, because the peer broke the protocol.
    case failed(HTTP2Error)
}

/// A whole request. Its bytes are valid until the session is next asked for an event.
package struct Request {
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

    /// Whether a known field came more than once.
    package var hasRepeatedFields: Bool { content.pointee.repeated != 0 }

    package func isRepeated(_ field: RequestField) -> Bool {
        content.pointee.repeated & (1 << UInt32(field.rawValue)) != 0
    }
}
