import APNs
import EventLoop
import HTTP2
import OpenSSL
import Transport

/// One client's connection to the gateway.
@Loop final class SimulatedConnection: TurnListener {
    let number: Int64
    private(set) var lastRequestAt: UInt64 = Loop.milliseconds
    /// A strong reference, because it is faster than an unowned reference. It causes no leak, because the gateway
    /// releases each connection when the connection ends.
    private let gateway: SimulatedGateway
    private let stream: ByteStream
    private let session: ServerSession
    private var credentials: CredentialChecker
    private var requests = 0
    private var refusals = 0
    private var isLeaving = false
    private var limit: StreamLimit
    private let goAwaySender: GoAwaySender
    /// How long the gateway waits, after GOAWAY, until the client closes its side.
    ///
    /// If the gateway closed the connection before it has read all bytes of the client, TCP would reset the connection, and the
    /// client would lose responses.
    private static let lingerTime = Duration.seconds(5)
    private static let streamLimitText = "Maximum active streams violated for this endpoint."
    private var lingerTimer: Timer?

    init(_ number: Int64, _ stream: ByteStream, of gateway: SimulatedGateway) {
        self.number = number
        self.stream = stream
        self.gateway = gateway
        let options = gateway.options
        credentials = CredentialChecker(options, certificate: options.certificateOutcome(of: stream))
        limit = StreamLimit(
            options.streams, hasFired: !(options.firstStreamAlone && credentials.needsToken))
        var settings = SessionSettings()
        settings.maxConcurrentStreams = limit.current
        settings.maxHeaderListSize = 8_000
        session = ServerSession(settings: settings, streamLimitText: Self.streamLimitText)
        goAwaySender = GoAwaySender(of: session)
        stream.onBytes = { [unowned self] in received($0) }
        stream.onEnd = { [unowned self] _ in gateway.ended(self) }
        stream.source = { [unowned self] in fill(&$0) }
        stream.setNeedsFlush()
    }

    var openStreams: Int { session.openStreams }

    // MARK: Bytes

    private func received(_ bytes: UnsafeRawBufferPointer) {
        do throws(HTTP2Error) { try session.receive(bytes) } catch {
            gateway.counters.protocolErrors += 1
            return leave()
        }
        gateway.readClock()
        drain()
        stream.setNeedsFlush()
    }

    private func fill(_ output: inout OutputBuffer) {
        gateway.flushLedger()
        let before = output.count
        output.append(upTo: 64 << 10) { room in
            do throws(HTTP2Error) { return try session.fill(room) } catch { return 0 }
        }
        drain()
        // If this call added no output and the session is finished, the connection ends. Otherwise this function is
        // called again when the socket has accepted all bytes.
        if output.count == before, session.isFinished { leave() }
    }

    /// Ends the output at the end of the turn, because this function may run in the middle of a read or a write.
    private func leave() {
        guard !isLeaving else { return }
        isLeaving = true
        Loop.atEndOfTurn(self)
    }

    /// Sends queued output and ends the output. The connection closes when the client has closed its side.
    func loopTurnEnded() {
        gateway.flushLedger()
        stream.onBytes = { _ in }
        stream.endOutput()
        lingerTimer = Timer { [unowned self] in
            stream.close()
            gateway.ended(self)
        }
        lingerTimer?.start(after: Self.lingerTime)
    }

    private func drain() {
        while let event = session.nextEvent() {
            switch event {
            case .request(let request): handle(request)
            case .closed(_, let code, let wasRequested):
                if wasRequested, code == ErrorCode.cancel { gateway.counters.abandonedStreams += 1 }
            case .refused(let number, .aboveLimit): refusedUnread(number, "REFUSED_STREAM")
            case .refused(let number, .headerListTooLarge): refusedUnread(number, "header list too large")
            case .failed: gateway.counters.protocolErrors += 1
            case .settings, .goAway, .ping: break
            }
        }
    }

    // MARK: Requests

    private func handle(_ request: ServerRequest) {
        guard !isLeaving else { return }
        lastRequestAt = Loop.milliseconds
        requests += 1
        gateway.counters.requests += 1
        let id = EchoedID(request.value(.id), random: &gateway.ids)
        guard goAwaySender.admits(request.stream) else {
            gateway.counters.unprocessedStreams += 1
            return note(request, id, status: 0, reason: "GOAWAY")
        }
        if let streamFault = gateway.faults.streamFault(&gateway.random) {
            inject(streamFault, request, id)
        } else {
            switch verdict(of: request) {
            case .silent: inject(.silent(processed: false), request, id)
            case .reply(let reply): respond(reply, request, id)
            }
        }
        if let plan = gateway.faults.goAway, requests % plan.every == 0 {
            goAway(announced: plan.announced, reason: plan.reason)
        }
        if let every = gateway.faults.cutEvery, requests % every == 0 { cut() }
    }

    private func verdict(of request: ServerRequest) -> PushJudge.Verdict {
        if let reply = gateway.faults.imposed(at: gateway.now, &gateway.random) { return .reply(reply) }
        if gateway.isTooMany() { return .reply(Reply(.tooManyRequests)) }
        return gateway.judge.judge(request, now: gateway.now) {
            let outcome = credentials.check(
                request.value(.authorization), keys: &gateway.keys, now: gateway.now / 1000)
            if case .accepted = outcome { raiseLimit() }
            return outcome
        }
    }

    private func respond(_ reply: Reply, _ request: ServerRequest, _ id: EchoedID) {
        gateway.counters.count(reply)
        note(request, id, status: reply.status, reason: reply.reason)
        if reply.status == 200 { raiseLimit() } else { refused(reply) }
        let delay = gateway.faults.latency.draw(&gateway.random)
        if delay > 0 {
            gateway.delay(
                DelayLine.Waiting(connection: number, stream: request.stream, reply: reply, id: id),
                milliseconds: delay)
        } else {
            gateway.writer.write(reply, id: id, to: request.stream, of: session)
        }
        if reply.status == 200 { gateway.devices?.receive(request) }
    }

    private func inject(_ streamFault: Faults.StreamFault, _ request: ServerRequest, _ id: EchoedID) {
        switch streamFault {
        case .refused:
            gateway.counters.refusedStreams += 1
            note(request, id, status: 0, reason: "REFUSED_STREAM")
            session.refuse(request.stream)
        case .reset(let reset):
            gateway.counters.resetStreams += 1
            lose(request, id, processed: reset.processed, reason: "RST_STREAM \(reset.code)")
            session.reset(request.stream, code: reset.code)
        case .silent(let processed):
            gateway.counters.silentStreams += 1
            lose(request, id, processed: processed, reason: "silent")
        }
    }

    /// Records a request that the session refused without reading it, because the stream is above a lowered limit or the header
    /// list is too large.
    private func refusedUnread(_ number: Int32, _ reason: String) {
        gateway.counters.requests += 1
        gateway.counters.refusedStreams += 1
        gateway.note(unread: number, connection: self.number, reason: reason)
    }

    /// Handles a request whose response is lost by a fault. If the request counts as processed, it is judged like any
    /// other request.
    private func lose(_ request: ServerRequest, _ id: EchoedID, processed: Bool, reason: String) {
        guard processed, case .reply(let reply) = verdict(of: request) else {
            return note(request, id, status: 0, reason: reason)
        }
        gateway.counters.count(reply)
        note(request, id, status: reply.status, reason: reply.reason, isLost: true)
        if reply.status == 200 { gateway.devices?.receive(request) }
    }

    private func note(
        _ request: ServerRequest, _ id: EchoedID, status: UInt16, reason: String?, isLost: Bool = false
    ) {
        id.withBytes { id in
            gateway.note(
                request, id: id, connection: number, status: status, reason: reason, isLost: isLost)
        }
    }

    func respondNow(_ waiting: DelayLine.Waiting) {
        gateway.writer.write(waiting.reply, id: waiting.id, to: waiting.stream, of: session)
        stream.setNeedsFlush()
    }

    // MARK: The limit of streams

    private func raiseLimit() { send(limit.raise()) }

    private func refused(_ reply: Reply) {
        refusals += reply.status == 400 ? 1 : 0
        if let most = gateway.options.refusalsPerConnection, refusals >= most {
            goAway(announced: false, reason: reply.reason)
        }
        // APNs was observed to lower the limit after an expired token, and in earlier years after each refusal.
        let isExpired =
            reply.reason == Reason.expiredProviderToken.rawValue
            && gateway.options.limitDropsAfterExpiredToken
        if isExpired || gateway.options.limitDropsAfterRefusal { send(limit.lower()) }
    }

    func setLimit(_ streams: UInt32) {
        send(limit.change(to: streams))
        stream.setNeedsFlush()
    }

    private func send(_ limit: UInt32?) {
        if let limit { session.setMaxConcurrentStreams(limit) }
    }

    // MARK: The end

    func goAway(announced: Bool, reason: String?) {
        guard !goAwaySender.hasBegun else { return }
        gateway.counters.goAways += 1
        goAwaySender.begin(isAnnounced: announced, reason: reason) { [unowned self] in
            stream.setNeedsFlush()
        }
    }

    func cut() {
        guard !isLeaving else { return }
        isLeaving = true
        gateway.counters.cuts += 1
        gateway.flushLedger()
        stream.reset()
        gateway.ended(self)
    }

    func close() {
        gateway.flushLedger()
        isLeaving = true
        stream.close()
    }
}
