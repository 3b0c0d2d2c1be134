import CNghttp2

/// Frame types, flags and answers of callbacks as plain numbers, so that callbacks compare without
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

    /// Bytes of a GOAWAY frame before its debug text: frame header, last stream, code.
    static let goAwayHead = 17

    static let endStream = UInt8(NGHTTP2_FLAG_END_STREAM.rawValue)
    static let endHeaders = UInt8(NGHTTP2_FLAG_END_HEADERS.rawValue)
    static let acknowledged = UInt8(NGHTTP2_FLAG_ACK.rawValue)

    /// A callback's answer: the stream is reset, the connection lives.
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
