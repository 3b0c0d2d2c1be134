import EventLoop
import OpenSSL
import Transport

/// The gateway's feedback service: who connects gets the devices without the app that nobody has read yet.
@Loop final class FeedbackServer {
    unowned let gateway: SimulatedGateway
    private(set) var connections = 0
    private(set) var closedAtOnce = 0
    var cuts = 0
    private var listeners: HostListeners?
    private var readers: [ObjectIdentifier: FeedbackReader] = [:]

    init(of gateway: SimulatedGateway) { self.gateway = gateway }

    func listen(port: UInt16, tls: TLSContext?) async throws(SimulatorError) {
        listeners = try await HostListeners(gateway.options.hosts, port: port, tls: tls) {
            [unowned self] stream, _ in accept(stream)
        }
    }

    var port: UInt16 { listeners?.port ?? 0 }

    func close() {
        listeners?.close()
        for reader in readers.values { reader.abandon() }
        readers.removeAll()
    }

    private func accept(_ stream: ByteStream) {
        connections += 1
        guard let client = gateway.admit(stream) else {
            closedAtOnce += 1
            return stream.close()
        }
        let reader = FeedbackReader(stream, topic: client.topic, of: self)
        readers[ObjectIdentifier(reader)] = reader
    }

    func ended(_ reader: FeedbackReader) { readers[ObjectIdentifier(reader)] = nil }

    func resetCounters() { (connections, closedAtOnce, cuts) = (0, 0, 0) }

    /// A JSON object.
    var countersJSON: String {
        let table = gateway.feedbackTable
        return "{\"connections\":\(connections),\"open_connections\":\(readers.count),"
            + "\"closed_at_once\":\(closedAtOnce),\"failed_handshakes\":\(listeners?.failedHandshakes ?? 0),"
            + "\"listed\":\(table.listed),\"read\":\(table.read),\"waiting\":\(table.count),\"cuts\":\(cuts)}"
    }
}
