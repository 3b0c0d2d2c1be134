/// Error codes of RST_STREAM and GOAWAY that the product names.
///
/// Codes stay `UInt32` wherever they travel, because a peer may send any.
/// - Source: RFC 9113, section 7.
package enum ErrorCode {
    package static let none: UInt32 = 0x0
    package static let protocolError: UInt32 = 0x1
    package static let internalError: UInt32 = 0x2
    package static let flowControl: UInt32 = 0x3
    package static let settingsTimeout: UInt32 = 0x4
    package static let streamClosed: UInt32 = 0x5
    package static let frameSize: UInt32 = 0x6
    package static let refusedStream: UInt32 = 0x7
    package static let cancel: UInt32 = 0x8
    package static let compression: UInt32 = 0x9
    package static let enhanceYourCalm: UInt32 = 0xb
}
