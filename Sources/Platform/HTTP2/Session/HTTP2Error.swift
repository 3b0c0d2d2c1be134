/// Why a session cannot go on. Its connection should be closed once the last bytes have been written.
package enum HTTP2Error: Error, Equatable {
    /// The peer broke the protocol. A GOAWAY with this code and debug text ends our output.
    case violation(code: UInt32, text: String)
    /// The first bytes from a client were not the HTTP/2 connection preface.
    case notHTTP2
    /// The peer makes us queue more answers (PING, SETTINGS) than it reads.
    case flooded
    case outOfMemory
    /// The session has ended; it takes no more bytes.
    case ended
    /// Any other fatal answer of libnghttp2, by its number.
    case library(Int32)
}
