import APNs
package import EventLoop
import FarmPolicy
import HTTP2
package import PushModel
package import Transport

/// APNs over one HTTP/2 connection.
@Loop package final class APNsConnection: GatewayConnection, TurnListener {
    private let stream: ByteStream
    private let session = ClientSession(settings: APNsConnection.settings)
    private var generation: UInt32
    private weak var listener: (any GatewayListener)?
    private var request: PushRequest
    private var budget: StreamBudget
    private var open = OpenPushes()
    private var deadlines: RequestDeadlines
    private var quiet: QuietWatch
    private var tick: Timer?
    private var isRetiring = false
    private var hasEnded = false
    /// Why the session can write no more.
    private var failure: String?
    /// Output was written in this turn, and so much room there was before.
    private var hasFilled = false
    private var roomBeforeFill = 0
    package private(set) var isProven = false
    package private(set) var wasRefused = false

    /// - Parameters:
    ///   - stream: connected, its TLS handshake done.
    ///   - authority: the gateway's host, with its port unless that is 443.
    ///   - providerToken: `nil` when the TLS certificate speaks for us.
    ///   - generation: of the credentials, told with every refusal.
    package init(
        over stream: ByteStream, authority: String, providerToken: [UInt8]?, generation: UInt32,
        requestTimeout: Duration, listener: any GatewayListener
    ) {
        let now = ContinuousClock.now
        self.stream = stream
        self.generation = generation
        self.listener = listener
        request = PushRequest(authority: authority, providerToken: providerToken)
        budget = StreamBudget(aloneUntilAuthenticated: providerToken != nil)
        deadlines = RequestDeadlines(slots: StreamBudget.usualCap, timeout: requestTimeout, start: now)
        quiet = QuietWatch(start: now, busy: min(.seconds(15), requestTimeout / 2))
        stream.onBytes = { [unowned self] bytes in receive(bytes) }
        stream.onEnd = { [unowned self] end in
            if case .failed(.tls(.alert)) = end { wasRefused = true }
            finish("\(end)")
        }
        stream.source = { [unowned self] output in fill(&output) }
        tick = Timer { [unowned self] in look() }
        tick?.start(after: Self.tickInterval, every: Self.tickInterval)
        stream.setNeedsFlush()
    }

    private static let tickInterval = Duration.milliseconds(500)

    private static var settings: SessionSettings {
        var settings = SessionSettings()
        // Answers are a few bytes; the tables and windows of the protocol's defaults are plenty.
        settings.maxHeaderListSize = 8192
        return settings
    }

    /// The session may know of less room than the budget: a stream that was answered early is still to close,
    /// and a session that failed says so only when its GOAWAY is written.
    package var room: Int {
        if isRetiring || hasEnded || session.isGoingAway { return 0 }
        return min(budget.available, session.remoteMaxConcurrentStreams - session.openStreams)
    }
    package var openStreams: Int { budget.open }
    package var limit: Int { budget.limit }
    package var isSpent: Bool { isRetiring || hasEnded || budget.isSpent }

    package func send(
        _ head: PushHead, token: UnsafeRawBufferPointer, id: PushID, payload: UnsafeRawBufferPointer,
        ticket: PushTicket, at now: ContinuousClock.Instant
    ) -> Bool {
        guard room > 0 else { return false }
        request.use(head)
        request.aim(token: token, id: id)
        let slot = open.add(ticket, credentials: generation)
        guard case .opened(let number) = session.submit(request.block, body: payload, tag: UInt32(slot.slot))
        else {
            open.remove(slot.slot)
            return false
        }
        open.set(stream: number, of: slot.slot)
        if budget.open == 0 { quiet.becameBusy(at: now) }
        budget.opened()
        deadlines.add(slot, sentAt: now)
        stream.setNeedsFlush()
        return true
    }

    package func renew(_ token: [UInt8], generation: UInt32) {
        request.renew(token)
        self.generation = generation
    }

    package func retire() {
        guard !isRetiring, !hasEnded else { return }
        // No GOAWAY: it would stop no stream of ours, and some gateways then answer the open ones no more.
        isRetiring = true
        closeIfDone(reason: "retired")
    }

    package func close() {
        stream.close()
        finish("closed")
    }

    /// Acts on what came up while output was written: resets that left, a session that failed.
    package func loopTurnEnded() {
        hasFilled = false
        guard !hasEnded else { return }
        drainEvents(roomBefore: roomBeforeFill)
        if let failure { abort(failure) }
    }

    private func fill(_ output: inout OutputBuffer) {
        if !hasFilled {
            hasFilled = true
            roomBeforeFill = room
            Loop.atEndOfTurn(self)
        }
        do {
            try output.append(upTo: 32 << 10) { (space) throws(HTTP2Error) in
                var total = 0
                while total < space.count, total < 64 << 10 {
                    let rest = UnsafeMutableRawBufferPointer(rebasing: space[total...])
                    let count = try session.fill(rest)
                    guard count > 0 else { break }
                    total += count
                }
                return total
            }
        } catch { failure = "\(error)" }
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) {
        quiet.read(at: .now)
        let before = room
        do { try session.receive(bytes) } catch {
            drainEvents(roomBefore: before)
            return abort("\(error)")
        }
        drainEvents(roomBefore: before)
        if session.wantsWrite { stream.setNeedsFlush() }
    }

    /// - Parameter roomBefore: from before the session worked, which frees places without an event, too.
    private func drainEvents(roomBefore: Int) {
        while let event = session.nextEvent() { handle(event) }
        guard !hasEnded else { return }
        if room > roomBefore { listener?.hasRoom(self) }
        closeIfDone(reason: "spent")
    }

    private func handle(_ event: ClientEvent) {
        switch event {
        case .answered(let answer): answered(answer)
        case .closed(let tag, _, let code, let unprocessed):
            settle(Int(tag), unprocessed ? .unprocessed : .unknown(cause: "stream reset, code \(code)"))
        case .settings(let settings):
            budget.settings(maxConcurrentStreams: settings.maxConcurrentStreams)
            listener?.hasRoom(self)
        case .goAway(_, let code, let debug):
            let wasSpent = isSpent
            budget.goAway()
            guard !wasSpent else { return }
            let note = debug.withUnsafeBytes { GoAwayNote(debugData: $0) }
            let words = note == .nothing ? "code \(code)" : note.words
            listener?.isSpent(self, reason: "GOAWAY \(words)", verdict: note.verdict)
        case .pong: break
        case .failed(let error): abort("\(error)")
        }
    }

    private func answered(_ answer: Answer) {
        let slot = Int(answer.tag)
        budget.answered()
        guard answer.status != 200 else {
            prove()
            return settle(slot, .delivered)
        }
        let body = AnswerBody(answer.body)
        let verdict = Verdict(status: Int(answer.status), reason: body?.reason, timestamp: body?.timestamp)
        if verdict.provesAuthentication { prove() }
        settle(
            slot,
            .refused(
                Refusal(
                    verdict: verdict, status: answer.status, retryAfter: answer.retryAfter,
                    generation: open.credentials(of: slot))))
    }

    private func prove() {
        guard !isProven else { return }
        isProven = true
        budget.authenticated()
    }

    /// Frees a push's place; it is told to the listener unless its deadline had done so before.
    private func settle(_ slot: Int, _ fate: Fate) {
        let entry = open.remove(slot)
        budget.closed()
        if budget.open == 0 { quiet.becameIdle() }
        guard let entry else { return }
        deadlines.remove(entry.request)
        listener?.settled(entry.ticket, fate)
    }

    /// Looks at the deadlines and at how long the gateway has been quiet.
    private func look() {
        let now = ContinuousClock.now
        let waiting = deadlines.count
        while let late = deadlines.expire(at: now) {
            let (ticket, number) = open.abandon(late.slot)
            session.reset(number)
            stream.setNeedsFlush()
            listener?.settled(ticket, .unknown(cause: "no answer within the deadline"))
        }
        // A lost answer now and then is no sign of a gateway that does not keep up; a good part of them is.
        if (waiting - deadlines.count) * 8 > waiting { budget.timedOut() }
        switch quiet.act(at: now) {
        case .wait: break
        case .ping:
            session.ping(1)
            stream.setNeedsFlush()
        case .dead: abort("no answer to PING")
        }
    }

    private func abort(_ reason: String) {
        stream.close()
        finish(reason)
    }

    private func closeIfDone(reason: String) {
        guard !hasEnded, isSpent, budget.open == 0 else { return }
        abort(reason)
    }

    private func finish(_ reason: String) {
        guard !hasEnded else { return }
        hasEnded = true
        tick?.stop()
        session.abandon()
        while let event = session.nextEvent() {
            guard case .closed(let tag, _, _, let unprocessed) = event else {
                if case .answered(let answer) = event { answered(answer) }
                continue
            }
            settle(Int(tag), unprocessed ? .unprocessed : .unknown(cause: "connection lost: \(reason)"))
        }
        listener?.ended(self, reason: reason)
    }
}
