import APNs
package import EventLoop
import OpenSSL
import Transport

/// The gateway's binary interface: commands 0, 1 and 2.
@Loop package final class BinaryServer {
    unowned let gateway: SimulatedGateway
    let judge: BinaryJudge
    package internal(set) var counters: BinaryCounters
    private var listeners: HostListeners?
    private var connections: [Int64: SimulatedBinaryConnection] = [:]
    private var perSecond = 0
    private var framesBefore = 0

    init(of gateway: SimulatedGateway) {
        self.gateway = gateway
        judge = BinaryJudge(tokenLengths: gateway.options.tokenLengths)
        counters = BinaryCounters(countsDistinct: gateway.options.countsDistinct)
    }

    func listen(port: UInt16, tls: TLSContext?) async throws(SimulatorError) {
        listeners = try await HostListeners(
            gateway.options.hosts, port: port, tls: tls,
            breaksHandshake: { [unowned self] host in
                gateway.random.happens(gateway.faults.binary[host].brokenHandshakes)
            },
            acceptDelay: { [unowned self] host in
                let delay = gateway.faults.binary[host].acceptDelay.draw(&gateway.random)
                return .milliseconds(Int64(delay.rounded(.up)))
            },
            onStream: { [unowned self] in accept($0, $1) })
    }

    var port: UInt16 { listeners?.port ?? 0 }

    func close() {
        listeners?.close()
        for connection in connections.values { connection.abandon() }
        connections.removeAll()
    }

    private func accept(_ stream: ByteStream, _ host: String) {
        counters.connections += 1
        guard let client = gateway.admit(stream) else {
            counters.closedAtOnce += 1
            return stream.close()
        }
        let connection = SimulatedBinaryConnection(gateway.takeNumber(), stream, client, at: host, of: self)
        connections[connection.number] = connection
        counters.mostConnections = max(counters.mostConnections, connections.count)
        connection.begin()
    }

    func ended(_ connection: SimulatedBinaryConnection) { connections[connection.number] = nil }

    // MARK: Commands

    func closeNow(isReset: Bool, at host: String?) {
        for connection in connections.values where host == nil || connection.host == host {
            connection.closeNow(isReset: isReset)
        }
    }

    func shutDownNow(at host: String?) {
        for connection in connections.values where host == nil || connection.host == host {
            connection.shutDownNow()
        }
    }

    /// Applies a changed reading speed to all connections.
    func faultsChanged() {
        for connection in connections.values { connection.paceChanged() }
    }

    // MARK: Counters

    func secondPassed() {
        perSecond = max(0, counters.frames - framesBefore)
        framesBefore = counters.frames
    }

    var countersJSON: String {
        counters.json(
            openConnections: connections.count, failedHandshakes: listeners?.failedHandshakes ?? 0,
            brokenHandshakes: listeners?.brokenHandshakes ?? 0, delayed: listeners?.delayed ?? (0, 0),
            perSecond: perSecond)
    }
}

/// The client of a connection to the binary interface or the feedback service.
struct BinaryClient {
    /// The bundle id in the client's certificate; nil if the client has no certificate, or if the certificate has no
    /// bundle id.
    var topic: String?
    /// False if the client has a certificate that names no topic.
    var hasTopic = true

    init() {}

    /// Returns nil if the certificate is refused.
    ///
    /// - Parameter fault: the fault that a full check of the certificate found; nil if the check found no fault.
    init?(
        _ certificate: Certificate, fault: CertificateFault?, environment: SimulatorOptions.Environment
    ) {
        guard fault == nil else { return nil }
        let outcome = ClientCertificateCheck.outcome(of: certificate, fault: nil, environment: environment)
        if case .refused(.badCertificateEnvironment) = outcome { return nil }
        topic = certificate.userID
        if case .refused = outcome { hasTopic = false }
        if topic?.isEmpty != false { hasTopic = false }
    }
}
