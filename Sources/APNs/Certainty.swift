/// What is known about a push whose stream is over.
package enum Certainty: Hashable, Sendable {
    /// The gateway answered; the answer has a ``Verdict``.
    case answered
    /// The gateway has not processed it: it may be sent again at once, and no attempt is counted.
    case unprocessed
    /// It may or may not have been processed: sent again, it may arrive twice.
    case unknown

    /// HTTP/2's REFUSED_STREAM.
    /// - Source: RFC 9113, 7 and 8.7.
    package static let refusedStream: UInt32 = 7

    /// How a stream came to its end.
    package enum End: Hashable, Sendable {
        /// A status was read, whatever came after it.
        case status
        /// The request's last byte never left this process.
        case neverSent
        /// RST_STREAM, from either side, before a status.
        case reset(errorCode: UInt32)
        /// GOAWAY with a last stream id below this stream's.
        case aboveGoAway
        /// The connection ended, in any way, before a status.
        case connectionLost
        /// No status within the request's time.
        case deadline
    }

    package init(of end: End) {
        self =
            switch end {
            case .status: .answered
            case .neverSent, .aboveGoAway, .reset(errorCode: Self.refusedStream): .unprocessed
            case .reset, .connectionLost, .deadline: .unknown
            }
    }

    /// What a GOAWAY ends: the streams above its last stream id. Others may still be answered: nil.
    package static func end(ofStream stream: Int32, afterGoAway lastStream: Int32) -> End? {
        stream > lastStream ? .aboveGoAway : nil
    }
}
