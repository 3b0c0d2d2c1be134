import APNs
import BinaryProtocol
import PushModel
import Testing

@testable import Gateway

/// One binary exchange, the outcomes that it has reported, and the number of key updates to which the gateway has replied.
final class BinaryExchangeFixture {
    let exchange: BinaryExchange
    private(set) var delivered: [UInt32] = []
    private(set) var unknown: [UInt32] = []
    private(set) var unprocessed: [UInt32] = []
    private(set) var dead: [UInt32] = []
    private(set) var verdicts: [Verdict] = []
    /// For each refusal that arrived too late: the number of pushes that had wrongly counted as accepted.
    private(set) var wrong: [Int] = []
    private(set) var end: String?
    /// The times at which the exchange requested key updates.
    private(set) var questions: [ContinuousClock.Instant] = []
    var responses = 0
    var unread = 0

    init(
        _ profile: BinaryGatewayProfile, settings: BinarySettings = BinarySettings(),
        at now: ContinuousClock.Instant
    ) {
        exchange = BinaryExchange(
            settings, profile: profile, generation: 1, timeout: .seconds(20), at: now)
    }

    func send(_ position: UInt32, isRetry: Bool = false, at now: ContinuousClock.Instant) {
        let token = [UInt8](repeating: 7, count: 32)
        let isTaken = token.withUnsafeBytes { token in
            Array("{}".utf8).withUnsafeBytes { payload in
                exchange.send(
                    PushOptions(), isRetry: isRetry, token: token, payload: payload,
                    ticket: PushTicket(batch: 1, position: position), at: now)
            }
        }
        #expect(isTaken)
        flush(at: now)
    }

    func retire(at now: ContinuousClock.Instant) {
        exchange.retire(at: now)
        flush(at: now)
    }

    /// Sends all bytes.
    private func flush(at now: ContinuousClock.Instant) {
        var room = [UInt8](repeating: 0, count: 4096)
        room.withUnsafeMutableBytes { _ = exchange.fill($0) }
        exchange.bytesSent(allBut: 0, at: now)
        askIfDue(at: now)
    }

    private func askIfDue(at now: ContinuousClock.Instant) {
        while exchange.shouldAsk(at: now) {
            questions.append(now)
            exchange.asked(at: now)
        }
    }

    func reply(_ status: BinaryStatus, _ identifier: UInt32, at now: ContinuousClock.Instant) {
        receive(BinaryReply(status: status, identifier: identifier).bytes, at: now)
    }

    func receive(_ bytes: [UInt8], at now: ContinuousClock.Instant) {
        bytes.withUnsafeBytes { exchange.receive($0, at: now) }
        drain(at: now)
    }

    func poll(at now: ContinuousClock.Instant) {
        exchange.poll(unread: unread, responses: responses, at: now)
        askIfDue(at: now)
        drain(at: now)
    }

    /// Closes the connection.
    func end(isPeersDoing: Bool, at now: ContinuousClock.Instant) {
        exchange.end("closed", isPeersDoing: isPeersDoing, at: now)
        drain(at: now)
    }

    private func drain(at now: ContinuousClock.Instant) {
        while let event = exchange.nextEvent() {
            switch event {
            case .completed(let ticket, .delivered): delivered.append(ticket.position)
            case .completed(let ticket, .unknown): unknown.append(ticket.position)
            case .completed(let ticket, .unprocessed): unprocessed.append(ticket.position)
            case .completed(let ticket, .rejected(let refusal)):
                dead.append(ticket.position)
                verdicts.append(refusal.verdict)
            case .deliveredPushesLost(let count, _): wrong.append(count)
            case .isOver(let reason): exchange.end(reason, isPeersDoing: false, at: now)
            case .ended(let reason): end = reason
            case .roomAvailable, .retired: break
            }
        }
    }
}
