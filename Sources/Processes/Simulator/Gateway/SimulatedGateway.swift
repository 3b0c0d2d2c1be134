import APNs
package import EventLoop
import HTTP2
package import Logging
import OpenSSL
import PushModel
import Transport

/// A gateway that behaves like APNs over HTTP/2 and can simulate faults.
@Loop package final class SimulatedGateway {
    package let options: SimulatorOptions
    package let credentials: SimulatorCredentials
    package internal(set) var counters: Counters
    package internal(set) var faults = Faults()
    /// Called once, when the `stop` command arrives.
    package var onStop: @Loop () -> Void = {}

    var random: SeededRandom
    /// The random numbers for the ids that the gateway creates.
    var ids: SeededRandom
    var judge: PushJudge
    private var throttle = OverallThrottle()
    var keys: KeyRing
    let writer: ResponseWriter
    /// When the current requests arrived, in microseconds since 1970. The time is read once for all requests that
    /// arrive together.
    private(set) var moment = WallClock.microseconds
    /// The time of ``moment`` by the loop's clock. The delays of responses count from this time. So the ledger never shows a
    /// response before its delay has ended, even if a turn of the loop takes long.
    private var arrival = Loop.milliseconds
    var now: Int64 { moment / 1000 }
    private let log: Logger
    private(set) var ledger: Ledger?
    private var payloads = PayloadInspector()
    /// The devices that receive accepted pushes; nil if the gateway simulates no devices.
    let devices: SimulatedDevices?
    private var listeners: HostListeners?
    package private(set) var binary: BinaryServer?
    private var feedback: FeedbackServer?
    var feedbackTable = FeedbackTable()
    private var control: ControlSocket?
    private(set) var connections: [Int64: SimulatedConnection] = [:]
    private var nextNumber: Int64 = 1
    private var streamLimit: UInt32
    private lazy var delays = DelayedResponses { [unowned self] in
        connections[$0.connection]?.respondNow($0)
    }
    private var clock: Timer?
    /// The number of requests that arrived in the last complete second.
    package private(set) var perSecond = 0
    /// The total number of requests at the end of the second of ``perSecond``.
    private var requestsBefore = 0

    /// Creates the credentials, opens the ledger and starts listening.
    package static func start(
        _ options: SimulatorOptions, log: Logger
    ) async throws(SimulatorError) -> SimulatedGateway {
        let gateway = try SimulatedGateway(options, log: log)
        for line in options.faults {
            try gateway.carryOut(FaultCommand(line, now: WallClock.milliseconds))
        }
        try await gateway.listen()
        return gateway
    }

    private init(_ options: SimulatorOptions, log: Logger) throws(SimulatorError) {
        self.options = options
        self.log = log
        credentials = try SimulatorCredentials(
            folder: options.folder, serverNames: options.serverNames, bundle: options.bundle)
        counters = Counters(countsDistinct: options.countsDistinct)
        random = SeededRandom(seed: options.seed)
        ids = SeededRandom(seed: options.idSeed)
        writer = ResponseWriter(environment: options.environment, seed: options.idSeed &+ 1)
        keys = try KeyRing(try options.allKeys(own: credentials), environment: options.environment)
        let now = WallClock.milliseconds / 1000
        var table = TokenTable(deadSince: now - 86_400)
        if let file = options.tokenFile { try TokenFile.read(file, into: &table, now: now) }
        judge = PushJudge(
            table: table, throttle: options.pushesPerTokenAndSecond.map(TokenThrottle.init(pushesPerSecond:)))
        ledger = try options.ledger.map { (path) throws(SimulatorError) in try Ledger(path: path) }
        devices = try options.devices.map { (population) throws(SimulatorError) in
            try SimulatedDevices(population, doneFile: options.doneFile)
        }
        streamLimit = options.streams
        clock = Timer { [unowned self] in secondPassed() }
        clock?.start(after: .seconds(1), every: .seconds(1))
    }

    private func listen() async throws(SimulatorError) {
        listeners = try await HostListeners(
            options.hosts, port: options.port, tls: try options.tls(credentials, isBinary: false)
        ) {
            [unowned self] stream, _ in accept(stream)
        }
        if let port = options.binaryPort {
            binary = BinaryServer(of: self)
            try await binary?.listen(port: port, tls: try options.tls(credentials, isBinary: true))
        }
        if let port = options.feedbackPort {
            feedback = FeedbackServer(of: self)
            try await feedback?.listen(port: port, tls: try options.tls(credentials, isBinary: true))
        }
        if let path = options.controlSocket {
            control = try await ControlSocket(path) { [unowned self] in reply(to: $0) }
        }
    }

    /// The port of the HTTP/2 interface.
    package var port: UInt16 { listeners?.port ?? 0 }
    package var binaryPort: UInt16? { binary?.port }
    package var feedbackPort: UInt16? { feedback?.port }

    package var openConnections: Int { connections.count }
    package var openStreams: Int { connections.values.reduce(0) { $0 + $1.openStreams } }

    /// Closes all connections and completes the ledger.
    package func stop() {
        listeners?.close()
        binary?.close()
        feedback?.close()
        control?.close()
        clock?.stop()
        delays.stop()
        devices?.stop()
        for connection in connections.values { connection.close() }
        connections.removeAll()
        flushLedger()
    }

    /// All counters as a JSON object on one line.
    package func countersJSON() -> String {
        counters.json(
            openConnections: openConnections, openStreams: openStreams,
            failedHandshakes: listeners?.failedHandshakes ?? 0, tokensVerified: keys.verified,
            perSecond: perSecond, binary: binary?.countersJSON, feedback: feedback?.countersJSON)
    }

    // MARK: Connections

    private func accept(_ stream: ByteStream) {
        counters.connections += 1
        if WallClock.milliseconds < faults.closesNewUntil {
            counters.closedAtOnce += 1
            stream.close()
            return
        }
        let connection = SimulatedConnection(takeNumber(), stream, of: self)
        connections[connection.number] = connection
        log.debug(
            "connection", metadata: ["number": "\(connection.number)", "peer": "\(stream.peer)"])
        if case .refused(.badCertificateEnvironment) = options.certificateOutcome(of: stream) {
            connection.goAway(announced: false, reason: Reason.badCertificateEnvironment.rawValue)
        }
        if streamLimit != options.streams { connection.setLimit(streamLimit) }
    }

    func takeNumber() -> Int64 {
        defer { nextNumber += 1 }
        return nextNumber
    }

    func ended(_ connection: SimulatedConnection) {
        connections[connection.number] = nil
    }

    /// Sets the limit of streams for all present and later connections.
    func setStreamLimit(_ limit: UInt32) {
        streamLimit = limit
        for connection in connections.values { connection.setLimit(limit) }
    }

    func resetCounters() {
        counters.reset()
        binary?.counters.reset()
        feedback?.resetCounters()
    }

    func fillFeedback(_ count: Int, topic: String?) {
        let now = UInt32(clamping: WallClock.milliseconds / 1000)
        feedbackTable.fill(count, topic: topic, now: now, random: &random)
    }

    /// The client of a new connection to the binary interface or the feedback service; nil if the client is refused.
    func admit(_ stream: ByteStream) -> BinaryClient? {
        WallClock.milliseconds < faults.closesNewUntil ? nil : options.binaryClient(of: stream)
    }

    private func secondPassed() {
        binary?.secondPassed()
        perSecond = max(0, counters.requests - requestsBefore)
        requestsBefore = counters.requests
        guard let timeout = options.idleTimeout else { return }
        for connection in connections.values
        where Loop.milliseconds - connection.lastRequestAt >= timeout.milliseconds
            && connection.openStreams == 0
        {
            connection.goAway(announced: false, reason: Reason.idleTimeout.rawValue)
        }
    }

    // MARK: Ledger, clock, delayed responses

    func readClock() { (moment, arrival) = (WallClock.microseconds, Loop.readMilliseconds()) }

    /// Whether the push exceeds the rate limit of all tokens together.
    func isTooMany() -> Bool {
        guard let rate = faults.rate else { return false }
        return throttle.exceeds(rate, now: now)
    }

    func flushLedger() { ledger?.flush() }

    /// The warning about an accepted payload; nil if the payload is a JSON object.
    func warning(about payload: UnsafeRawBufferPointer) -> String? {
        options.checksPayloads ? payloads.warning(about: payload) : nil
    }

    func note(
        _ request: ServerRequest, id: UnsafeRawBufferPointer, connection: Int64, status: UInt16,
        reason: String?, isLost: Bool
    ) {
        let token = request.value(.path).flatMap { $0.count > 10 ? $0.after(10) : nil }
        if status == 200, options.countsDistinct, let token { counters.accepted(token: token, id: id) }
        let warning = status == 200 ? self.warning(about: request.body) : nil
        if warning != nil { counters.warnings += 1 }
        ledger?.note(
            Ledger.Entry(
                moment: moment, connection: connection, stream: request.stream, request: request, id: id,
                token: token, status: status, reason: reason, warning: warning, isLost: isLost))
    }

    func note(unread stream: Int32, connection: Int64, reason: String) {
        ledger?.note(
            Ledger.Entry(moment: moment, connection: connection, stream: stream, status: 0, reason: reason))
    }

    func delay(_ waiting: DelayLine.Waiting, milliseconds: Double) {
        delays.add(waiting, due: arrival + UInt64(milliseconds.rounded(.up)))
    }
}
