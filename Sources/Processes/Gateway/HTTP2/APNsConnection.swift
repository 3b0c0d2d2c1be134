package import APNs
package import EventLoop
package import FarmPolicy
package import PushModel
package import Transport

/// One HTTP/2 connection to APNs. The connection transports the bytes of a ``PushExchange`` and tells the exchange
/// the time.
@Loop
package final class APNsConnection: GatewayConnection, TurnListener {
    private let stream: ByteStream
    private let exchange: PushExchange<APNsService>
    private weak var listener: (any GatewayListener)?
    private var tick: Timer?
    /// Whether output was written in this turn of the loop.
    private var hasFilled = false
    package private(set) var rejectedCertificate = false

    /// - Parameter stream: a connected stream whose TLS handshake is complete.
    package init(over stream: ByteStream, _ settings: StreamSettings, listener: any GatewayListener) {
        self.stream = stream
        self.listener = listener
        exchange = PushExchange<APNsService>(settings, at: .now)
        stream.onBytes = { [unowned self] bytes in receive(bytes) }
        stream.onEnd = { [unowned self] end in
            if case .failed(.tls(.alert)) = end { rejectedCertificate = true }
            finish("\(end)")
        }
        stream.source = { [unowned self] output in fill(&output) }
        tick = Timer { [unowned self] in poll() }
        tick?.start(
            after: PushExchange<APNsService>.tickInterval, every: PushExchange<APNsService>.tickInterval)
        stream.setNeedsFlush()
    }

    package var room: Int { exchange.room }
    package var openStreams: Int { exchange.streams.open }
    package var limit: Int { exchange.streams.budget.limit }
    package var isRetired: Bool { exchange.isRetired }
    package var isProven: Bool { exchange.streams.isProven }
    package var isSlowed: Bool { exchange.streams.isSlowed }
    package var refusesStreams: Bool { exchange.streams.refusals.isLasting }
    package var hasMadeProgress: Bool { exchange.streams.refusals.wasOfUse }
    package var bytesWritten: Int { stream.bytesWritten }

    package func send(
        _ head: PushHead, token: UnsafeRawBufferPointer, id: PushID, payload: UnsafeRawBufferPointer,
        ticket: PushTicket, at now: Instant
    ) -> Bool {
        guard exchange.send(head, token: token, id: id, payload: payload, ticket: ticket, at: now) else {
            return false
        }
        stream.setNeedsFlush()
        return true
    }

    package func renew(_ token: [UInt8], generation: UInt32) {
        exchange.renew(token, generation: generation)
    }

    package func slowDownForThrottling() { exchange.streams.slowDownForThrottling() }

    package func takeLowered() -> Bool { exchange.streams.takeLowered() }

    package func takeLatencies() -> LatencyCounts? { exchange.takeLatencies() }

    package func retire() {
        exchange.retire()
        passEventsOn()
    }

    package func close() {
        stream.close()
        finish("closed")
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) {
        exchange.receive(bytes, at: .now)
        passEventsOn()
        if exchange.wantsWrite { stream.setNeedsFlush() }
    }

    func poll(at now: Instant = .now) {
        // The process may have been suspended. Responses that arrived during the suspension are read before deadlines
        // are checked.
        stream.readNow()
        guard !exchange.hasEnded else { return }
        exchange.poll(at: now)
        if exchange.wantsWrite { stream.setNeedsFlush() }
        passEventsOn()
    }

    package func loopTurnEnded() {
        hasFilled = false
        exchange.didFill()
        passEventsOn()
    }

    private func fill(_ output: inout OutputBuffer) {
        if !hasFilled {
            hasFilled = true
            Loop.atEndOfTurn(self)
        }
        output.append(upTo: 32 << 10) { space in
            var total = 0
            while total < space.count, total < 64 << 10 {
                let count = exchange.fill(UnsafeMutableRawBufferPointer(rebasing: space[total...]))
                guard count > 0 else { break }
                total += count
            }
            return total
        }
    }

    /// Delivers the exchange's events to the listener. If the listener closes the connection during this call, this
    /// call also delivers the events of the close.
    private func passEventsOn() {
        while let event = exchange.nextEvent() {
            switch event {
            case .completed(let ticket, let outcome): listener?.completed(ticket, outcome)
            case .roomAvailable: listener?.roomAvailable(on: self)
            case .retired(let reason, let verdict):
                listener?.retired(self, reason: reason, verdict: verdict)
            case .deliveredPushesLost(let count, let reason):
                listener?.deliveredPushesLost(on: self, count: count, reason: reason)
            case .isOver(let reason):
                stream.close()
                finish(reason)
            case .ended(let reason): listener?.ended(self, reason: reason)
            }
        }
    }

    private func finish(_ reason: String) {
        tick?.stop()
        exchange.end(reason)
        passEventsOn()
    }
}
