import APNs
package import EventLoop
import HTTP2
package import Logging
import TLS
import Transport

/// A gateway that behaves like APNs over HTTP/2, with faults on demand.
@Loop package final class SimulatedGateway {
    package let options: SimulatorOptions
    package let credentials: SimulatorCredentials
    package internal(set) var counters: Counters
    package internal(set) var faults = Faults()
    /// Is called once, when the `stop` command comes.
    package var onStop: @Loop () -> Void = {}

    var random: RandomSource
    var judge: PushJudge
    var keys: KeyRing
    let writer: AnswerWriter
    /// Milliseconds since 1970, read once for all requests that come with one piece.
    private(set) var now = WallClock.milliseconds
    private let log: Logger
    private var ledger: LedgerHolder?
    private var payloads = PayloadCheck()
    private var listener: Listener?
    private var control: ControlSocket?
    private var connections: [Int64: GatewayConnection] = [:]
    private var nextNumber: Int64 = 1
    private var streamLimit: UInt32
    private var delays = DelayLine()
    private var delayTimer: Timer?
    private var clock: Timer?
    /// Requests of the last whole second, and of all seconds before the present one.
    package private(set) var perSecond = 0
    private var requestsBefore = 0

    /// Makes credentials, opens the ledger, listens.
    package static func start(
        _ options: SimulatorOptions, log: Logger
    ) async throws(SimulatorError) -> SimulatedGateway {
        let gateway = try SimulatedGateway(options, log: log)
        for line in options.faults {
            _ = try gateway.carryOut(FaultCommand(line, now: WallClock.milliseconds))
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
        random = RandomSource(seed: options.seed)
        writer = AnswerWriter(environment: options.environment, seed: options.seed &+ 1)
        let own = SimulatorOptions.Key(
            id: SimulatorCredentials.keyID, team: SimulatorCredentials.teamID,
            file: credentials.signingKeyFile)
        keys = try KeyRing([own] + options.keys, environment: options.environment)
        let yesterday = WallClock.milliseconds / 1000 - 86_400
        var book = TokenBook(deadSince: yesterday)
        if let file = options.tokenFile { try TokenFile.read(file, into: &book, defaultSince: yesterday) }
        judge = PushJudge(
            book: book, throttle: options.pushesPerTokenAndSecond.map(TokenThrottle.init(pushesPerSecond:)))
        ledger = try options.ledger.map { (path) throws(SimulatorError) in try LedgerHolder(path) }
        streamLimit = options.streams
        delayTimer = Timer { [unowned self] in answerDue() }
        clock = Timer { [unowned self] in secondPassed() }
        clock?.start(after: .seconds(1), every: .seconds(1))
    }

    private func listen() async throws(SimulatorError) {
        do {
            let tls = options.usesTLS ? try TLSContext(server: tlsSettings) : nil
            listener = try await Listener(.tcp(host: options.host, port: options.port), tls: tls) {
                [unowned self] in accept($0)
            }
        } catch {
            throw .system("\(error)")
        }
        if let path = options.controlSocket {
            control = try await ControlSocket(path) { [unowned self] in reply(to: $0) }
        }
    }

    private var tlsSettings: ServerSettings {
        ServerSettings(
            identity: credentials.server, applicationProtocols: ["h2"],
            clientCertificates: options.asksForCertificates
                ? .optional(authorities: credentials.authorityPEM, .chained) : .ignored)
    }

    /// The port on which it listens.
    package var port: UInt16 { listener?.address.port ?? 0 }

    package var openConnections: Int { connections.count }
    package var openStreams: Int { connections.values.reduce(0) { $0 + $1.openStreams } }

    /// Closes everything; the ledger is complete.
    package func stop() {
        listener?.close()
        control?.close()
        clock?.stop()
        delayTimer?.stop()
        for connection in connections.values { connection.close() }
        connections.removeAll()
        flushLedger()
    }

    /// All counters as a JSON object on one line.
    package func countersJSON() -> String {
        counters.json(
            openConnections: openConnections, openStreams: openStreams,
            failedHandshakes: listener?.failedHandshakes ?? 0, tokensVerified: keys.verified,
            perSecond: perSecond)
    }

    // MARK: Connections

    private func accept(_ stream: ByteStream) {
        counters.connections += 1
        if WallClock.milliseconds < faults.closesNewUntil {
            counters.closedAtOnce += 1
            stream.close()
            return
        }
        let connection = GatewayConnection(nextNumber, stream, of: self)
        connections[nextNumber] = connection
        nextNumber += 1
        log.debug(
            "connection", metadata: ["number": "\(connection.number)", "peer": "\(stream.peer)"])
        if case .refused(.badCertificateEnvironment) = certificateOutcome(of: stream) {
            connection.goAway(announced: false, reason: Reason.badCertificateEnvironment.rawValue)
        }
        if streamLimit != options.streams { connection.setLimit(streamLimit) }
    }

    func ended(_ connection: GatewayConnection) {
        connections[connection.number] = nil
    }

    /// What a connection's client certificate allows; nil if it has shown none.
    func certificateOutcome(of stream: ByteStream) -> PushCheck.Credentials? {
        stream.withSession { session in
            session.peerCertificate.map { certificate in
                ClientCertificateCheck.outcome(
                    of: certificate, fault: session.peerFault, environment: options.environment)
            }
        } ?? nil
    }

    private func secondPassed() {
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

    // MARK: Ledger, clock, waiting answers

    func readClock() { now = WallClock.milliseconds }

    func flushLedger() { ledger?.ledger.flush() }

    func note(
        _ request: Request, id: UnsafeRawBufferPointer, connection: Int64, status: UInt16, reason: String?,
        isLost: Bool
    ) {
        let path = request.value(.path)
        let token = path.flatMap { $0.count > 10 ? UnsafeRawBufferPointer(rebasing: $0[10...]) : nil }
        if status == 200, options.countsDistinct, let token { counters.accepted(token: token, id: id) }
        var warning: String?
        if status == 200, options.checksPayloads {
            warning = payloads.warning(about: request.body)
            if warning != nil { counters.warnings += 1 }
        }
        guard let ledger else { return }
        ledger.ledger.note(
            Ledger.Entry(
                time: now, connection: connection, stream: request.stream, id: id, token: token,
                topic: request.value(.topic), pushType: request.value(.pushType),
                priority: request.value(.priority), expiration: request.value(.expiration),
                collapseID: request.value(.collapseID), body: request.body, status: status, reason: reason,
                warning: warning, isLost: isLost))
    }

    func delay(
        _ reply: Reply, _ id: EchoedID, stream: Int32, of connection: GatewayConnection, milliseconds: Double
    ) {
        let due = Loop.milliseconds + UInt64(milliseconds.rounded(.up))
        let isSoonest = delays.nextDue.map { due < $0 } ?? true
        delays.add(
            DelayLine.Waiting(due: due, connection: connection.number, stream: stream, reply: reply, id: id))
        if isSoonest { startDelayTimer() }
    }

    private func answerDue() {
        while let waiting = delays.popDue(Loop.milliseconds) {
            connections[waiting.connection]?.answerNow(waiting)
        }
        startDelayTimer()
    }

    private func startDelayTimer() {
        guard let due = delays.nextDue else { return }
        let now = Loop.milliseconds
        delayTimer?.start(after: .milliseconds(due > now ? Int64(due - now) : 0))
    }

    // MARK: Commands

    /// Carries a command out.
    /// - Returns: a JSON object on one line.
    package func carryOut(_ command: FaultCommand) throws(SimulatorError) -> String {
        switch command {
        case .change(let change): change.apply(to: &faults)
        case .goAwayNow(let announced, let reason):
            for connection in connections.values { connection.goAway(announced: announced, reason: reason) }
        case .cutNow:
            for connection in connections.values { connection.cut() }
        case .streams(let limit):
            streamLimit = limit
            for connection in connections.values { connection.setLimit(limit) }
        case .token(let token, let rule):
            guard judge.book.set(token, rule) else { throw .unusable("the token is not hexadecimal") }
        case .counters: return countersJSON()
        case .resetCounters: counters.reset()
        case .faults: return faults.json
        case .help: return "{\"ok\":true,\"help\":\(TextBuffer.quoted(FaultCommand.manual))}"
        case .stop: onStop()
        }
        return "{\"ok\":true}"
    }

    private func reply(to line: String) -> String {
        do throws(SimulatorError) {
            return try carryOut(FaultCommand(line, now: WallClock.milliseconds))
        } catch {
            return "{\"ok\":false,\"error\":\(TextBuffer.quoted(error.description))}"
        }
    }
}
