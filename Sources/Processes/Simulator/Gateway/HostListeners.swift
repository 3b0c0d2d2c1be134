import EventLoop
import OpenSSL
import Transport

/// Listens on the same port of every address of the gateway.
@Loop final class HostListeners {
    private var listeners: [Listener] = []

    /// - Parameters:
    ///   - port: the port; 0 means that the system chooses a port.
    ///   - breaksHandshake: returns whether to break the handshake of a connection; gets the address at which the
    ///     connection arrived.
    ///   - acceptDelay: returns the delay before a connection's handshake; gets the address at which the connection
    ///     arrived.
    ///   - onStream: gets each stream and the address at which the stream arrived.
    init(
        _ hosts: [String], port: UInt16, tls: TLSContext?,
        breaksHandshake: @escaping @Loop (String) -> Bool = { _ in false },
        acceptDelay: @escaping @Loop (String) -> Duration = { _ in .zero },
        onStream: @escaping @Loop (ByteStream, String) -> Void
    ) async throws(SimulatorError) {
        // A port that the system has chosen for the first address may be in use on another address. If the port is in use, try
        // again with another port.
        for attempt in 1... {
            do {
                var port = port
                for host in hosts {
                    let listener = try await Listener(.tcp(host: host, port: port), tls: tls) {
                        onStream($0, host)
                    }
                    listener.breaksHandshake = { breaksHandshake(host) }
                    listener.acceptDelay = { acceptDelay(host) }
                    listeners.append(listener)
                    port = listener.address.port
                }
                return
            } catch {
                close()
                if port != 0 || listeners.isEmpty || attempt == 20 { throw .system("\(error)") }
                listeners.removeAll()
            }
        }
    }

    var port: UInt16 { listeners.first?.address.port ?? 0 }
    var failedHandshakes: Int { listeners.reduce(0) { $0 + $1.failedHandshakes } }
    var brokenHandshakes: Int { listeners.reduce(0) { $0 + $1.brokenHandshakes } }

    /// `now` is the number of connections that are not accepted yet; `most` is the maximum of this number so far.
    var delayed: (now: Int, most: Int) {
        listeners.reduce((0, 0)) { ($0.0 + $1.delayed.now, $0.1 + $1.delayed.most) }
    }

    func close() {
        for listener in listeners { listener.close() }
    }
}
