import APNs
import EventLoop
import OpenSSL
import PushModel
import Transport

/// The gateway's feedback service. A client gets the unregistered tokens that no client has read yet.
@Loop final class FeedbackServer {
    unowned let gateway: SimulatedGateway
    private(set) var connections = 0
    private(set) var closedAtOnce = 0
    var cuts = 0
    private var listeners: HostListeners?
    private var readers: [ObjectIdentifier: SimulatedFeedbackConnection] = [:]

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
        let reader = SimulatedFeedbackConnection(stream, topic: client.topic, of: self)
        readers[ObjectIdentifier(reader)] = reader
    }

    func ended(_ reader: SimulatedFeedbackConnection) { readers[ObjectIdentifier(reader)] = nil }

    func resetCounters() { (connections, closedAtOnce, cuts) = (0, 0, 0) }

    var countersJSON: String {
        let table = gateway.feedbackTable
        return JSONText.object { text in
            text.member("connections", connections)
            text.member("open_connections", readers.count)
            text.member("closed_at_once", closedAtOnce)
            text.member("failed_handshakes", listeners?.failedHandshakes ?? 0)
            text.member("listed", table.listed)
            text.member("read", table.read)
            text.member("waiting", table.count)
            text.member("cuts", cuts)
        }
    }
}

/// One connection to the feedback service. A tuple is removed from the list as soon as it is passed to the socket. So two clients
/// that read at the same time get different tuples, and a tuple that the network loses is not sent again.
@Loop final class SimulatedFeedbackConnection: TurnListener {
    private let server: FeedbackServer
    private let stream: ByteStream
    private let topic: String?
    private var sent = 0
    private var isCut = false
    private var isLeaving = false
    private var bytes: [UInt8] = []
    private lazy var thinkTimer = Timer { [unowned self] in begin() }

    /// The number of bytes that are encoded at a time.
    private static let piece = 32 << 10

    init(_ stream: ByteStream, topic: String?, of server: FeedbackServer) {
        self.stream = stream
        self.topic = topic
        self.server = server
        stream.onEnd = { [unowned self] _ in server.ended(self) }
        if let time = server.gateway.faults.feedback.thinks {
            thinkTimer.start(after: .milliseconds(time))
        } else {
            begin()
        }
    }

    private func begin() {
        stream.source = { [unowned self] in fill(&$0) }
        stream.setNeedsFlush()
    }

    /// Fills the output. This function is called again when the socket has accepted all earlier bytes.
    private func fill(_ output: inout OutputBuffer) {
        guard !isLeaving else { return }
        bytes.removeAll(keepingCapacity: true)
        while bytes.count < Self.piece, !isCut,
            let tuple = server.gateway.feedbackTable.popFirst(topic: topic)
        {
            let start = bytes.count
            tuple.append(to: &bytes)
            if let cut = server.gateway.faults.feedback.cut, sent == cut.after {
                bytes.removeLast((bytes.count - start) / 2)
                isCut = true
            } else {
                sent += 1
            }
        }
        bytes.withUnsafeBytes { output.append($0) }
        guard bytes.isEmpty, isCut || !server.gateway.faults.feedback.stays else { return }
        isLeaving = true
        Loop.atEndOfTurn(self)
    }

    func loopTurnEnded() {
        if isCut { server.cuts += 1 }
        if isCut, server.gateway.faults.feedback.cut?.isReset == true {
            stream.reset()
        } else {
            stream.close()
        }
        server.ended(self)
    }

    func abandon() { stream.close() }
}
