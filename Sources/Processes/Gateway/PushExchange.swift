import APNs
import FarmPolicy
import HTTP2
import PushModel

/// APNs over one HTTP/2 connection, without the connection: pushes, bytes and moments in, bytes and events out.
///
/// After each call drain ``nextEvent()``. Every push that ``send(_:token:id:payload:ticket:at:)`` took is settled exactly once,
/// at the latest by ``end(_:)``. Not final only so that tests can break it on purpose.
class PushExchange {
    typealias Instant = ContinuousClock.Instant

    private let session: ClientSession
    private var generation: UInt32
    private var request: PushRequest
    private var budget: StreamBudget
    private var open = OpenPushes()
    private var deadlines: RequestDeadlines
    private var quiet: PingMonitor
    private var progress: ProgressMonitor
    private var refusals: RefusedStreams
    /// Spreads the pauses of connections that were refused together.
    var random: any RandomNumberGenerator = SystemRandomNumberGenerator()
    private var events = ExchangeEvents()
    private var isRetiring = false
    private var isOver = false
    private(set) var hasEnded = false
    /// Output was written since the events were last looked at, and so much room there was before.
    private var roomBeforeFill: Int?
    /// Some answer has proved that the gateway takes our credentials.
    private(set) var isProven = false
    /// From a push's departure to the gateway's answer, of answers since they were last taken.
    private var latencies = LatencyCounts()
    private var clock: MillisecondClock

    /// Between two looks at the deadlines.
    static let tickInterval = Duration.milliseconds(500)

    /// - Parameters:
    ///   - authority: the gateway's host, with its port unless that is 443.
    ///   - providerToken: `nil` when the TLS certificate speaks for us.
    ///   - generation: of the credentials, told with every refusal.
    required init(
        authority: String, providerToken: [UInt8]?, generation: UInt32, requestTimeout: Duration,
        at now: Instant
    ) {
        session = ClientSession(settings: Self.settings)
        clock = MillisecondClock(start: now)
        refusals = RefusedStreams(start: now)
        self.generation = generation
        request = PushRequest(authority: authority, providerToken: providerToken)
        budget = StreamBudget(aloneUntilAuthenticated: providerToken != nil)
        deadlines = RequestDeadlines(slots: StreamBudget.usualCap, timeout: requestTimeout, start: now)
        quiet = PingMonitor(start: now, busy: min(.seconds(15), requestTimeout / 2))
        progress = ProgressMonitor(timeout: UInt32(clamping: requestTimeout.clampedMilliseconds))
    }

    private static var settings: SessionSettings {
        var settings = SessionSettings()
        // Answers are a few bytes; the tables and windows of the protocol's defaults are plenty.
        settings.maxHeaderListSize = 8192
        return settings
    }

    /// Keeps to so many streams whatever the gateway allows, and asks an idle gateway after so long whether it lives; before the
    /// first push.
    func use(streams: Int, keepAlive: Duration?) {
        budget.setCap(streams)
        quiet.ask(whenIdleFor: keepAlive)
    }

    /// Pushes that may be sent now.
    ///
    /// The session may know of less room than the budget: a stream that was answered early is still to close, and a session
    /// that failed says so only when its GOAWAY is written.
    var room: Int {
        if isRetiring || isOver || session.isGoingAway { return 0 }
        return refusals.room(
            of: min(budget.available, session.remoteMaxConcurrentStreams - session.openStreams))
    }

    /// Pushes sent and not settled, and streams of pushes given up that are still to close.
    var openStreams: Int { budget.open }
    /// The most pushes that may be open at a time.
    var limit: Int { budget.limit }
    /// It sends less than the gateway allows, because that was in trouble or refused streams.
    var isSlowed: Bool { budget.isSlowed || !refusals.isCalm }
    /// The gateway has refused every stream for a while, without acting on it.
    var isRefused: Bool { refusals.isLasting }
    /// It was of use: the gateway responded to more than a first push beside many that it did not process.
    var hasMadeProgress: Bool { refusals.wasOfUse }
    /// It takes no more pushes, though it may still settle some.
    var isSpent: Bool { isRetiring || isOver || budget.isSpent }
    /// Pushes whose answers are awaited.
    var awaited: Int { deadlines.count }
    var wantsWrite: Bool { session.wantsWrite }

    func nextEvent() -> ExchangeEvent? { events.next() }

    // MARK: Pushes

    /// Sends one push; only with ``room``. Token and payload are valid during the call.
    /// - Returns: whether it was taken.
    func send(
        _ head: PushHead, token: UnsafeRawBufferPointer, id: PushID, payload: UnsafeRawBufferPointer,
        ticket: PushTicket, at now: Instant
    ) -> Bool {
        guard room > 0 else { return false }
        request.use(head)
        request.aim(token: token, id: id, bodyCount: payload.count)
        let slot = open.add(ticket, credentials: generation, sentAt: clock.read(now))
        guard case .opened(let number) = session.submit(request.block, body: payload, tag: UInt32(slot.slot))
        else {
            open.remove(slot.slot)
            return false
        }
        open.set(stream: number, of: slot.slot)
        if budget.open == 0 { quiet.becameBusy(at: now) }
        budget.opened()
        deadlines.add(slot, sentAt: now)
        refusals.sent()
        return true
    }

    /// Uses another provider token from the next push on.
    func renew(_ token: [UInt8], generation: UInt32) {
        request.renew(token)
        self.generation = generation
    }

    /// Takes no more pushes, and is over when the answers that are due have come.
    func retire() {
        guard !isRetiring, !hasEnded else { return }
        // No GOAWAY: it would stop no stream of ours, and some gateways then answer the open ones no more.
        isRetiring = true
        finishIfDone(reason: "retired")
    }

    // MARK: The gateway's trouble

    /// Answers 429 are each device's own matter, unless they are several devices'.
    func heedThrottles() { budget.heedThrottles() }

    func takeLowered() -> Bool { budget.takeLowered() }

    /// How long answers took since the last call.
    func takeLatencies() -> LatencyCounts {
        defer { latencies = LatencyCounts() }
        return latencies
    }

    // MARK: Bytes

    func receive(_ bytes: UnsafeRawBufferPointer, at now: Instant) {
        guard !hasEnded else { return }
        quiet.read(at: now)
        _ = clock.read(now)
        refusals.turn(to: now)
        let before = room
        do { try session.receive(bytes) } catch {
            drain(roomBefore: before)
            return finish("\(error)")
        }
        drain(roomBefore: before)
    }

    /// Writes what is to be sent into `space`, as much as fits; ``settleFilled()`` is to follow.
    func fill(_ space: UnsafeMutableRawBufferPointer) -> Int {
        if roomBeforeFill == nil { roomBeforeFill = room }
        do { return try session.fill(space) } catch {
            finish("\(error)")
            return 0
        }
    }

    /// Acts on what came up while output was written: resets that left, a session that failed.
    func settleFilled() {
        guard let before = roomBeforeFill else { return }
        roomBeforeFill = nil
        if !hasEnded { drain(roomBefore: before) }
    }

    // MARK: Time

    /// Looks at the deadlines and at how long the gateway has been quiet; every ``tickInterval``.
    func look(at now: Instant) {
        guard !isOver else { return }
        let (waiting, before) = (deadlines.count, room)
        let moment = clock.read(now)
        refusals.look(at: now)
        while let late = deadlines.expire(at: now) {
            let number = open.stream(of: late.slot)
            progress.timedOut(sentAt: open.sentAt(of: late.slot))
            // One that the gateway's limit has held back is unprocessed: the reset says so.
            if hasLeft(number) {
                refusals.endedUnanswered(using: &random)
                let ticket = open.abandon(late.slot)
                tell(.settled(ticket, .unknown(cause: "no answer within the deadline")))
            }
            session.reset(number)
        }
        // A lost answer now and then is no sign of a gateway that does not keep up; a good part of them is.
        if (waiting - deadlines.count) * 8 > waiting { budget.timedOut() }
        if !isSpent, let stall = progress.look(allowsStreams: budget.limit > 0, at: moment) { giveUp(stall) }
        drain(roomBefore: before)
        if isOver { return }
        switch quiet.act(at: now) {
        case .wait: break
        case .ping: session.ping(1)
        case .dead: finish("no answer to PING")
        }
    }

    // MARK: The end

    /// The connection is closed: what is open is settled, as what is known of it.
    func end(_ reason: String) {
        guard !hasEnded else { return }
        (hasEnded, isOver) = (true, true)
        session.abandon()
        while let event = session.nextEvent() {
            switch event {
            case .answered(let answer): answered(answer)
            case .closed(let tag, _, _, let unprocessed):
                settle(Int(tag), unprocessed ? .unprocessed : .unknown(cause: "connection lost: \(reason)"))
            case .settings, .goAway, .pong, .failed: break
            }
        }
        tell(.ended(reason: reason))
    }

    func tell(_ event: ExchangeEvent) { events.append(event) }

    /// Something of a push's request has left us.
    func hasLeft(_ stream: Int32) -> Bool { session.hasLeft(stream) }

    private func finish(_ reason: String) {
        guard !isOver else { return }
        isOver = true
        tell(.isOver(reason: reason))
    }

    /// Streams that only wait for their reset to be written keep nothing: a gateway that does not read would never let it go.
    private func finishIfDone(reason: String) {
        if isSpent, budget.open == 0 || deadlines.count == 0 { finish(reason) }
    }

    /// Takes no more pushes, because the gateway responds to none. Those that are open keep their deadlines.
    private func giveUp(_ stall: ProgressMonitor.Stall) {
        isRetiring = true
        tell(.isSpent(reason: "\(stall)", verdict: .connectionOver(reason: "\(stall)")))
    }

    // MARK: What the session tells

    /// - Parameter roomBefore: from before the session worked, which frees places without an event, too.
    private func drain(roomBefore: Int) {
        while let event = session.nextEvent() { handle(event) }
        guard !isOver else { return }
        if room > roomBefore { tell(.hasRoom) }
        finishIfDone(reason: "spent")
    }

    func handle(_ event: ClientEvent) {
        switch event {
        case .answered(let answer): answered(answer)
        case .closed(let tag, _, let code, let unprocessed):
            settle(Int(tag), unprocessed ? .unprocessed : .unknown(cause: "stream reset, code \(code)"))
        case .settings(let settings):
            budget.settings(maxConcurrentStreams: settings.maxConcurrentStreams)
            tell(.hasRoom)
        case .goAway(_, let code, let debug):
            let wasSpent = isSpent
            budget.goAway()
            guard !wasSpent else { return }
            let note = debug.withUnsafeBytes { GoAwayNote(debugData: $0) }
            let words = note == .nothing ? "code \(code)" : note.words
            tell(.isSpent(reason: "GOAWAY \(words)", verdict: note.verdict))
        case .pong: break
        case .failed(let error): finish("\(error)")
        }
    }

    private func answered(_ answer: Answer) {
        let slot = Int(answer.tag)
        budget.answered()
        progress.responded(at: clock.last)
        refusals.responded()
        latencies.add(UInt64(clock.last &- open.sentAt(of: slot)))
        guard answer.status != 200 else {
            prove()
            return settle(slot, .delivered)
        }
        let body = AnswerBody(answer.body)
        let verdict = Verdict(
            status: Int(answer.status), reason: body?.reason, timestamp: body?.timestamp,
            isForeign: body == nil && AnswerBody.isForeign(answer.body))
        if verdict.provesAuthentication { prove() }
        note(verdict)
        settle(
            slot,
            .refused(
                Rejection(
                    verdict: verdict, status: answer.status, retryAfter: answer.retryAfter,
                    generation: open.credentials(of: slot))))
    }

    private func note(_ verdict: Verdict) {
        switch verdict {
        case .serverTrouble, .outcomeUnknown: budget.troubled()
        case .throttled: budget.throttled()
        default: break
        }
    }

    private func prove() {
        guard !isProven else { return }
        isProven = true
        budget.authenticated()
    }

    /// Frees a push's place; it is told unless its deadline had done so before.
    func settle(_ slot: Int, _ fate: SendOutcome) {
        let entry = open.remove(slot)
        budget.closed()
        if budget.open == 0 { quiet.becameIdle() }
        guard let entry else { return }
        let wasInTime = deadlines.remove(entry.request)
        switch fate {
        case .unprocessed where wasInTime: cameBack()
        case .unknown: refusals.endedUnanswered(using: &random)
        case .delivered, .refused, .unprocessed: break
        }
        tell(.settled(entry.ticket, fate))
    }

    /// The gateway did not act on a push that was sent in time.
    private func cameBack() {
        // After a farewell there is no stream to be careful with.
        let isRefused = !isSpent && !session.isGoingAway && !isOver
        if isRefused { budget.refused() }
        refusals.cameBack(isRefused: isRefused, using: &random)
    }
}
