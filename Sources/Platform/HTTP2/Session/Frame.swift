import CNghttp2

/// Frame types, flags and return values of callbacks as plain numbers, so that callbacks compare them without
/// conversions.
enum Frame {
    static let headers = UInt8(NGHTTP2_HEADERS.rawValue)
    static let data = UInt8(NGHTTP2_DATA.rawValue)
    static let priority = UInt8(NGHTTP2_PRIORITY.rawValue)
    static let resetStream = UInt8(NGHTTP2_RST_STREAM.rawValue)
    static let settings = UInt8(NGHTTP2_SETTINGS.rawValue)
    static let ping = UInt8(NGHTTP2_PING.rawValue)
    static let continuation = UInt8(NGHTTP2_CONTINUATION.rawValue)
    static let goAway = UInt8(NGHTTP2_GOAWAY.rawValue)

    /// The size of a GOAWAY frame before its debug text: frame header, last stream, code.
    static let goAwayHead = 17

    static let endStream = UInt8(NGHTTP2_FLAG_END_STREAM.rawValue)
    static let endHeaders = UInt8(NGHTTP2_FLAG_END_HEADERS.rawValue)
    static let acknowledged = UInt8(NGHTTP2_FLAG_ACK.rawValue)

    /// If a callback returns this value, libnghttp2 resets the stream and keeps the connection open.
    static let refuseThisStream = NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
}

extension UnsafePointer<nghttp2_frame> {
    var pingNumber: UInt64 {
        var number: UInt64 = 0
        withUnsafeMutableBytes(of: &number) { target in
            withUnsafeBytes(of: pointee.ping.opaque_data) { target.copyMemory(from: $0) }
        }
        return UInt64(bigEndian: number)
    }

    var goAwayDebug: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: pointee.goaway.opaque_data, count: pointee.goaway.opaque_data_len)
    }
}

/// The error codes of RST_STREAM and GOAWAY that the program uses by name.
///
/// The program stores an error code as a `UInt32` and not as an enum, because a peer may send any value.
/// - Source: RFC 9113, section 7.
package enum ErrorCode {
    package static let none: UInt32 = 0x0
    package static let protocolError: UInt32 = 0x1
    package static let streamClosed: UInt32 = 0x5
    package static let refusedStream: UInt32 = 0x7
    package static let cancel: UInt32 = 0x8
}

/// Why a session cannot continue. Close the session's connection after the last output is written.
package enum HTTP2Error: Error, Equatable {
    /// The peer broke the protocol. A GOAWAY with this code and debug text is the last output.
    case violation(code: UInt32, text: String)
    /// The first bytes from a client were not the HTTP/2 connection preface.
    case notHTTP2
    /// Too many acknowledgements of PING and SETTINGS are queued, because the peer does not read them.
    case flooded
    case outOfMemory
    /// The session has ended and accepts no more bytes.
    case ended
    /// Any other fatal return value of libnghttp2, by its number.
    case library(Int32)
}
