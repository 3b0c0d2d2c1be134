/// Finds out that an HTTP/2 connection makes no progress, whatever bytes arrive on it.
///
/// Only a response is progress. PINGs, empty frames, half a response and new settings are not: a gateway that sends them and
/// answers nothing would keep its connection for ever. Moments are milliseconds since the connection began; they may wrap.
package struct ProgressMonitor: Hashable, Sendable {
    /// Why a connection is of no more use.
    package enum Stall: Hashable, Sendable, CustomStringConvertible {
        /// So many requests in a row reached their deadline, all sent after the last response.
        case unanswered(Int)
        /// The gateway allowed no stream for as long as a request may take.
        case noStreams

        package var description: String {
            switch self {
            case .unanswered(let count): "requests in a row without a response: \(count)"
            case .noStreams: "the gateway allows no streams"
            }
        }
    }

    /// Requests in a row without a response that end a connection; fewer, if nothing speaks for it.
    package static let enough = (proven: 3, new: 2)

    private let timeout: UInt32
    private var lastResponse: UInt32?
    private var unanswered = 0
    private var shutSince: UInt32?

    /// - Parameter timeout: milliseconds that a request may take.
    package init(timeout: UInt32) { self.timeout = timeout }

    /// A response came, whatever it said.
    package mutating func responded(at now: UInt32) {
        lastResponse = now
        (unanswered, shutSince) = (0, nil)
    }

    /// A request reached its deadline. One that is older than the last response says nothing about the connection: the gateway
    /// may never respond to its token.
    package mutating func timedOut(sentAt: UInt32) {
        if let lastResponse, Int32(bitPattern: sentAt &- lastResponse) < 0 { return }
        unanswered += 1
    }

    /// - Parameter allowsStreams: the gateway lets the connection have streams.
    /// - Returns: why the connection is to be replaced, if it is.
    package mutating func stall(allowsStreams: Bool, at now: UInt32) -> Stall? {
        if unanswered >= (lastResponse == nil ? Self.enough.new : Self.enough.proven) {
            return .unanswered(unanswered)
        }
        guard !allowsStreams else {
            shutSince = nil
            return nil
        }
        let since = shutSince ?? now
        shutSince = since
        return now &- since >= timeout ? .noStreams : nil
    }
}
