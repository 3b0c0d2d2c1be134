package import OpenSSL
import POSIX

/// Why a stream could not be opened, or why it ended.
package enum TransportError: Error, CustomStringConvertible {
    case unresolved(host: String, reason: String)
    /// No address could be reached. The text names each address and why it could not be reached.
    case unreachable(String)
    /// A timeout passed. `stage` is one of "connect", "proxy", "TLS handshake".
    case timedOut(stage: String)
    case proxyRefused(String)
    case tls(TLSError)
    case system(call: String, number: Int32)
    case pathTooLong(String)

    package var description: String {
        switch self {
        case .unresolved(let host, let reason): "cannot resolve \(host): \(reason)"
        case .unreachable(let reasons): "cannot connect: \(reasons)"
        case .timedOut(let stage): "timed out: \(stage)"
        case .proxyRefused(let response): "the proxy refused: \(response)"
        case .tls(let error): "TLS: \(error)"
        case .system(let call, let number): "\(call): \(SystemFailure.call(number))"
        case .pathTooLong(let path): "the socket path is too long: \(path)"
        }
    }

}

/// How a stream ended.
package enum StreamEnd {
    /// The peer closed the stream without an error.
    case closed
    case failed(TransportError)
}

extension StreamEnd: CustomStringConvertible {
    package var description: String {
        switch self {
        case .closed: "closed by the peer"
        case .failed(let error): "\(error)"
        }
    }
}
