/// What happened on a client session, in order.
package enum ClientEvent {
    /// A whole answer. The last event of its stream.
    case answered(Answer)
    /// The stream ended without a whole answer. `unprocessed` is true if the peer certainly did not act on
    /// it: it was refused, lies above GOAWAY's last stream, or never left us.
    case closed(tag: UInt32, stream: Int32, code: UInt32, unprocessed: Bool)
    /// The peer's settings have changed, or have arrived for the first time.
    case settings(PeerSettings)
    /// No new stream is taken. Streams above `lastStream` follow as `.closed`; the others may still be
    /// answered.
    case goAway(lastStream: Int32, code: UInt32, debug: [UInt8])
    case pong(UInt64)
    /// We end the session, because the peer broke the protocol.
    case failed(HTTP2Error)
}

/// A whole answer. Its bytes are valid until the session is next asked for an event.
package struct Answer {
    package let tag: UInt32
    package let stream: Int32
    package let status: UInt16
    /// Seconds of the `retry-after` header, if it was a number.
    package let retryAfter: UInt32?
    let page: AnswerPage?

    /// The body, of which the first 1,024 bytes are kept.
    package var body: UnsafeRawBufferPointer { page?.body ?? .none }

    /// The `apns-id` header; empty unless the session keeps identifiers.
    package var messageID: UnsafeRawBufferPointer { page?.messageID ?? .none }

    /// The `apns-unique-id` header; empty unless the session keeps identifiers.
    package var uniqueID: UnsafeRawBufferPointer { page?.uniqueID ?? .none }
}

extension UnsafeRawBufferPointer {
    static var none: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }
}
