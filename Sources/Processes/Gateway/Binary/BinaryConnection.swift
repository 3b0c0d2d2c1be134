package import APNs
import BinaryProtocol
package import EventLoop
package import FarmPolicy
package import PushModel
import Transport

/// A connection over the binary interface. The connection transports the bytes of a ``BinaryExchange`` and tells
/// the exchange the time.
@Loop package final class BinaryConnection: GatewayConnection, TurnListener {
    private let stream: ByteStream
    private let exchange: BinaryExchange
    private weak var listener: (any GatewayListener)?
    private var tick: Timer?
    package private(set) var rejectedCertificate = false

    /// - Parameters:
    ///   - stream: a connected stream whose TLS handshake is complete.
    ///   - generation: the generation of the credentials. Every refusal contains this number.
    ///   - timeout: how long the gateway's machine may take to accept sent bytes.
    init(
        over stream: ByteStream, settings: BinarySettings, profile: BinaryGatewayProfile, generation: UInt32,
        timeout: Duration, listener: any GatewayListener
    ) {
        self.stream = stream
        self.listener = listener
        var settings = settings
        settings.asksIfRead = settings.asksIfRead && stream.hasKeyUpdates
        exchange = BinaryExchange(
            settings, profile: profile, generation: generation, timeout: timeout, at: .now)
        stream.onBytes = { [unowned self] bytes in
            // First tell the exchange which bytes were sent, because the reply may name one of the pushes in these
            // bytes.
            exchange.bytesSent(allBut: self.stream.queuedBytes, at: .now)
            exchange.receive(bytes, at: .now)
            passEventsOn()
        }
        stream.onEnd = { [unowned self] end in
            if case .failed(.tls(.alert)) = end { rejectedCertificate = true }
            finish("\(end)", isPeersDoing: true)
        }
        stream.source = { [unowned self] output in fill(&output) }
        tick = Timer { [unowned self] in poll() }
        tick?.start(after: BinaryExchange.tickInterval, every: BinaryExchange.tickInterval)
        if exchange.shouldAsk(at: .now) { stream.setNeedsFlush() }
    }

    package var room: Int { exchange.room }
    package var openStreams: Int { exchange.openPushes }
    package var limit: Int { exchange.limit }
    package var sendShare: Int { exchange.sendShare }
    package var isLoaded: Bool { exchange.isLoaded }
    package var expectedEnd: Instant? { exchange.expectedEnd }
    package var isRetired: Bool { exchange.isRetired }
    package var isProven: Bool { exchange.isProven }
    /// Always false, because a refused push proves nothing about the gateway's load.
    package var isSlowed: Bool { false }
    package var bytesWritten: Int { stream.bytesWritten }

    package func send(
        _ head: PushHead, token: UnsafeRawBufferPointer, id: PushID, payload: UnsafeRawBufferPointer,
        ticket: PushTicket, at now: Instant
    ) -> Bool {
        guard
            exchange.send(
                head.options, isRetry: head.isRetry, token: token, payload: payload, ticket: ticket, at: now)
        else {
            return false
        }
        if exchange.wantsWrite { stream.setNeedsFlush() }
        // A push may get its outcome at once. Such outcomes are delivered at the end of the turn, after the caller has
        // returned.
        if exchange.hasEvents { Loop.atEndOfTurn(self) }
        return true
    }

    package func loopTurnEnded() { passEventsOn() }

    /// Does nothing, because a certificate authenticates the connection.
    package func renew(_ token: [UInt8], generation: UInt32) {}

    package func slowDownForThrottling() {}

    package func takeLowered() -> Bool { false }

    package func takeLatencies() -> LatencyCounts? { nil }

    package func retire() {
        exchange.retire(at: .now)
        if exchange.wantsWrite { stream.setNeedsFlush() }
        passEventsOn()
    }

    package func close() {
        // A reply may have arrived before the close. A reply proves more outcomes than the close does, so the
        // received bytes are read first.
        stream.readNow()
        shut()
        finish("closed", isPeersDoing: false)
    }

    /// Closes the stream, so that pushes that count as never sent cannot be sent later.
    private func shut() {
        if exchange.wantsWrite || stream.queuedBytes > 0 { stream.reset() } else { stream.close() }
    }

    private func poll() {
        // The process may have been suspended. Replies that arrived during the suspension are read before timeouts are
        // checked.
        stream.readNow()
        guard !exchange.hasEnded else { return }
        exchange.bytesSent(allBut: stream.queuedBytes, at: .now)
        let isWaiting = exchange.openPushes > 0
        exchange.poll(
            unread: isWaiting ? stream.unreadByPeer : 0, responses: stream.keyUpdates, at: .now)
        stream.watchesPeer = isWaiting
        if exchange.wantsWrite || exchange.shouldAsk(at: .now) { stream.setNeedsFlush() }
        passEventsOn()
    }

    /// Called when the socket has accepted all earlier output.
    private func fill(_ output: inout OutputBuffer) {
        exchange.bytesSent(allBut: 0, at: .now)
        while exchange.shouldAsk(at: .now) {
            stream.requestKeyUpdate()
            exchange.asked(at: .now)
        }
        output.append(upTo: 64 << 10) { exchange.fill($0) }
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
                shut()
                finish(reason, isPeersDoing: false)
            case .ended(let reason): listener?.ended(self, reason: reason)
            }
        }
    }

    private func finish(_ reason: String, isPeersDoing: Bool) {
        tick?.stop()
        exchange.bytesSent(allBut: stream.queuedBytes, at: .now)
        exchange.end(reason, isPeersDoing: isPeersDoing, at: .now)
        passEventsOn()
    }
}
