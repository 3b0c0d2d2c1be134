import APNs
import FarmPolicy
import HTTP2
import PushModel

/// The state of one HTTP/2 connection without its socket. Its inputs are pushes, received bytes and times; its outputs
/// are bytes to send and events.
///
/// The caller drains ``nextEvent()`` after each call. Every push that ``send(_:token:id:payload:ticket:at:)`` took gets exactly
/// one outcome, at the latest by ``end(_:)``.
final class PushExchange<Service: StreamService> {
    private enum Phase: Comparable {
        case open
        /// The connection takes no more pushes.
        case retiring
        /// The exchange is over: it reads and writes nothing more.
        case over
        /// Every push has its outcome.
        case ended
    }

    private let faults: FaultInjection<InjectedExchangeFault>
    private let session: ClientSession
    private var generation: UInt32
    /// Limits the number of open streams.
    var streams: StreamControl
    private(set) var open: PushesInFlight
    private var pings: PingMonitor
    private var events = ExchangeEvents()
    private var phase = Phase.open
    /// The value of ``room`` before output was written; nil if no output was written since the session's events were
    /// last handled.
    private var roomBeforeFill: Int?
    /// The response times that were measured since ``takeLatencies()`` was last called.
    private var latencies = LatencyCounts()
    private var clock: MillisecondClock
    private var service: Service

    /// The time between two checks of the deadlines.
    static var tickInterval: Duration { .milliseconds(500) }

    /// - Parameters:
    ///   - random: randomises delays, so that connections whose streams were refused at the same time do not retry at
    ///     the same time.
    ///   - fault: a fault that a test injects.
    init(
        _ settings: StreamSettings, at now: Instant,
        random: any RandomNumberGenerator = SystemRandomNumberGenerator(), fault: InjectedExchangeFault? = nil
    ) {
        let timeout = UInt32(clamping: settings.requestTimeout.clampedMilliseconds)
        faults = FaultInjection(fault)
        var limits = SessionSettings()
        // Responses have only a few bytes, so the protocol's default tables and windows are large enough.
        limits.maxHeaderListSize = 8192
        session = ClientSession(settings: limits)
        clock = MillisecondClock(start: now)
        generation = settings.generation
        service = Service(authority: settings.authority, providerToken: settings.providerToken)
        streams = StreamControl(
            hasProviderToken: settings.providerToken != nil, cap: settings.streams, timeout: timeout,
            random: random, at: now)
        open = PushesInFlight(timeout: timeout)
        pings = PingMonitor(
            start: now, busy: min(.seconds(15), settings.requestTimeout / 2), idle: settings.keepAlive)
    }

    /// The number of pushes that may be sent now.
    ///
    /// The session may have less room than the budget of streams: for example, if a stream with an early response is
    /// not closed yet, or if the session has failed. A failure of the session becomes visible only when the session's
    /// GOAWAY is written.
    var room: Int {
        if phase != .open || session.isGoingAway { return 0 }
        return streams.room(of: session.remoteMaxConcurrentStreams - session.openStreams)
    }

    /// Whether the connection takes no more pushes, although it may still await outcomes.
    var isRetired: Bool { phase != .open || streams.budget.isExhausted }
    /// Whether every push has its outcome.
    var hasEnded: Bool { phase == .ended }
    var wantsWrite: Bool { session.wantsWrite }

    func nextEvent() -> ExchangeEvent? { events.next() }

    // MARK: Pushes

    /// Sends one push; requires ``room``. Token and payload must be valid during the call.
    /// - Returns: whether the push was taken.
    func send(
        _ head: PushHead, token: UnsafeRawBufferPointer, id: PushID, payload: UnsafeRawBufferPointer,
        ticket: PushTicket, at now: Instant
    ) -> Bool {
        guard room > 0 else { return false }
        let request = service.request(head, token: token, id: id, bodyCount: payload.count)
        let slot = open.add(ticket, generation: generation, sentAt: clock.read(now))
        guard case .opened(let number) = session.submit(request, body: payload, tag: UInt32(slot)) else {
            open.remove(slot)
            return false
        }
        open.set(stream: number, of: slot)
        if streams.open == 0 { pings.becameBusy(at: now) }
        streams.opened()
        return true
    }

    /// Uses another provider token from the next push on.
    func renew(_ token: [UInt8], generation: UInt32) {
        service.renew(token)
        self.generation = generation
    }

    /// Takes no more pushes, and ends when outstanding responses have arrived.
    func retire() {
        guard phase == .open else { return }
        // Send no GOAWAY: it would not end the streams that this process opened, and some gateways stop responding to
        // open streams after a GOAWAY.
        phase = .retiring
        finishIfDone(reason: "retired")
    }

    /// Returns the response times since the last call.
    func takeLatencies() -> LatencyCounts {
        defer { latencies = LatencyCounts() }
        return latencies
    }

    // MARK: Bytes

    func receive(_ bytes: UnsafeRawBufferPointer, at now: Instant) {
        guard !hasEnded else { return }
        pings.read(at: now)
        _ = clock.read(now)
        streams.setNow(now)
        let before = room
        do { try session.receive(bytes) } catch {
            drain(roomBefore: before)
            return finish("\(error)")
        }
        drain(roomBefore: before)
    }

    /// Writes as much output into `space` as fits; the caller then calls ``didFill()``.
    func fill(_ space: UnsafeMutableRawBufferPointer) -> Int {
        if roomBeforeFill == nil { roomBeforeFill = room }
        do { return try session.fill(space) } catch {
            finish("\(error)")
            return 0
        }
    }

    /// Handles events that occurred while output was written, such as sent resets or a failed session.
    func didFill() {
        guard let before = roomBeforeFill else { return }
        roomBeforeFill = nil
        if !hasEnded { drain(roomBefore: before) }
    }

    // MARK: Time

    /// Checks the deadlines and the gateway's silence; called every ``tickInterval``.
    func poll(at now: Instant) {
        guard phase < .over else { return }
        let (waiting, before, moment) = (open.waiting, room, clock.read(now))
        streams.poll(at: now)
        while let slot = open.takeLate(at: moment) {
            let number = open.stream(of: slot)
            streams.timedOut(sentAt: open.sentAt(of: slot))
            // Perhaps no bytes of the push were sent, because of the gateway's stream limit. Then the push gets no
            // outcome here: the reset of its stream will show that the push is unprocessed.
            if hasLeft(number) {
                streams.endedWithoutResponse()
                let ticket = open.abandon(slot)
                events.append(.completed(ticket, .unknown(cause: "no response within the deadline")))
            }
            session.reset(number)
        }
        streams.timedOut(waiting - open.waiting, of: waiting)
        if !isRetired, let stall = streams.stall(at: moment) { giveUp(stall) }
        drain(roomBefore: before)
        if phase >= .over { return }
        switch pings.act(at: now) {
        case .wait: break
        case .ping: session.ping(1)
        case .dead: finish("no response to PING")
        }
    }

    /// Handles the close of the connection: each open push ends with its outcome if the outcome is known, else with an
    /// unknown outcome.
    func end(_ reason: String) {
        guard !hasEnded else { return }
        phase = .ended
        session.abandon()
        while let event = session.nextEvent() {
            switch event {
            case .responded(let response): responded(response)
            case .closed(let tag, _, _, let unprocessed):
                close(Int(tag), unprocessed ? .unprocessed : .unknown(cause: "connection lost: \(reason)"))
            case .settings, .goAway, .pong, .failed: break
            }
        }
        events.append(.ended(reason: reason))
    }

    /// Whether some bytes of a push's request have left this process.
    private func hasLeft(_ stream: Int32) -> Bool {
        session.hasLeft(stream) || faults.has(.takesHeldBackForSent)
    }

    private func finish(_ reason: String) {
        guard phase < .over else { return }
        phase = .over
        events.append(.isOver(reason: reason))
    }

    /// Ends the exchange if it takes no more pushes and awaits no response. The exchange does not wait until all
    /// resets of streams are written: a gateway that reads nothing would keep it open forever.
    private func finishIfDone(reason: String) {
        if isRetired, streams.open == 0 || open.waiting == 0 { finish(reason) }
    }

    /// Takes no more pushes, because the gateway responds to no push. Open pushes keep their deadlines.
    private func giveUp(_ stall: ProgressMonitor.Stall) {
        phase = .retiring
        events.append(.retired(reason: "\(stall)", verdict: .connectionOver(reason: "\(stall)")))
    }

    // MARK: The session's events

    /// - Parameter roomBefore: the value of ``room`` before the session read or wrote bytes. The session may free room
    ///   without an event.
    private func drain(roomBefore: Int) {
        while let event = session.nextEvent() { handle(event) }
        guard phase < .over else { return }
        if room > roomBefore { events.append(.roomAvailable) }
        finishIfDone(reason: "spent")
    }

    private func handle(_ event: ClientEvent) {
        switch event {
        case .responded(let response): responded(response)
        case .closed where faults.has(.ignoresClosed): break
        case .closed(let tag, _, let code, let unprocessed):
            let isUnprocessed = unprocessed && !faults.has(.takesRefusedForLost)
            close(Int(tag), isUnprocessed ? .unprocessed : .unknown(cause: "stream reset, code \(code)"))
        case .settings(let settings):
            streams.settings(maxConcurrentStreams: settings.maxConcurrentStreams)
            events.append(.roomAvailable)
        case .goAway where faults.has(.ignoresGoAway): break
        case .goAway(_, let code, let debug):
            let wasRetired = isRetired
            streams.goAway()
            guard !wasRetired else { return }
            let goAwayMeaning = service.goAwayMeaning(code: code, debugData: debug)
            events.append(.retired(reason: "GOAWAY \(goAwayMeaning.words)", verdict: goAwayMeaning.verdict))
        case .pong: break
        case .failed(let error): finish("\(error)")
        }
    }

    private func responded(_ response: Response) {
        let slot = Int(response.tag)
        streams.responded(at: clock.last)
        latencies.add(UInt64(clock.last &- open.sentAt(of: slot)))
        guard response.status != 200 else {
            streams.credentialsAccepted()
            return close(slot, .delivered)
        }
        let rejection = service.rejection(response, generation: open.generation(of: slot))
        streams.rejected(rejection.verdict)
        close(slot, .rejected(rejection))
    }

    /// Frees a push's slot, and reports the push's outcome if it was not already reported at the push's deadline.
    private func close(_ slot: Int, _ outcome: SendOutcome) {
        let push = open.remove(slot)
        streams.closed()
        if streams.open == 0 { pings.becameIdle() }
        guard let push else { return }
        switch outcome {
        case .unprocessed where push.isInTime:
            // After a GOAWAY the gateway processes no new streams, so an unprocessed stream does not count as refused.
            streams.noteUnprocessed(isRefused: !isRetired && !session.isGoingAway)
        case .unknown: streams.endedWithoutResponse()
        case .delivered, .rejected, .unprocessed: break
        }
        events.append(.completed(push.ticket, outcome))
    }
}
