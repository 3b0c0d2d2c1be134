import APNs
import BinaryProtocol
import RandomTesting

/// A simulated binary gateway that gets its bytes from the test. It records which pushes it accepts and refuses, so that a
/// test can compare this record with the outcomes of the exchange.
final class BinaryPeer {
    typealias Instant = ContinuousClock.Instant

    enum Kind { case good, bad, failing }

    /// When the gateway sends its last reply, and when it closes the connection.
    struct PlannedClose {
        var replyAt: Instant
        var reply: BinaryReply?
        var closesAt: Instant
    }

    private var buffer: [UInt8] = []
    private(set) var plannedClose: PlannedClose?
    /// Serial numbers of the accepted pushes.
    private(set) var accepted: [UInt32] = []
    private(set) var refused: [UInt32] = []
    /// The identifier of the last accepted push; 0 if no push was accepted.
    private var lastIdentifier: UInt32 = 0
    private let kind: (UInt32) -> Kind
    private let delay: () -> Duration

    /// - Parameters:
    ///   - kind: returns whether the push with a serial number is good, bad or failing.
    ///   - delay: returns the delay of the next reply.
    init(kind: @escaping (UInt32) -> Kind, delay: @escaping () -> Duration) {
        (self.kind, self.delay) = (kind, delay)
    }

    /// Reads the bytes that have arrived. The last four bytes of a token are the push's serial number.
    func read(_ bytes: [UInt8], at now: Instant) {
        guard plannedClose == nil, !bytes.isEmpty else { return }
        buffer += bytes
        var offset = 0
        buffer.withUnsafeBytes { buffer in
            while plannedClose == nil {
                let rest = UnsafeRawBufferPointer(rebasing: buffer[offset...])
                guard
                    case .notification(let push, let command, let length) = BinaryFrame(readingFrontOf: rest)
                else {
                    break
                }
                offset += length
                take(push, command, at: now)
            }
        }
        buffer.removeFirst(offset)
    }

    private func take(_ push: BinaryNotification, _ command: BinaryCommand, at now: Instant) {
        guard push.token.count == 32 else { return refuse(push, command, .invalidTokenSize, at: now) }
        let serial = push.token[28...].reduce(0) { $0 << 8 | UInt32($1) }
        switch kind(serial) {
        case .good:
            accepted.append(serial)
            lastIdentifier = push.identifier
        case .bad:
            refused.append(serial)
            refuse(push, command, .invalidToken, at: now)
        case .failing:
            refused.append(serial)
            refuse(push, command, .processingError, at: now)
        }
    }

    private func refuse(
        _ push: BinaryNotification, _ command: BinaryCommand, _ status: BinaryStatus, at now: Instant
    ) {
        let due = now + delay()
        plannedClose = PlannedClose(
            replyAt: due,
            reply: command == .simple ? nil : BinaryReply(status: status, identifier: push.identifier),
            closesAt: due + .milliseconds(20))
    }

    /// Closes the connection with a reply that names the last accepted push.
    func shutDown(at now: Instant) {
        guard plannedClose == nil else { return }
        plannedClose = PlannedClose(
            replyAt: now + .milliseconds(5),
            reply: BinaryReply(status: .shutdown, identifier: lastIdentifier),
            closesAt: now + .milliseconds(30))
    }

    func close(at now: Instant) {
        guard plannedClose == nil else { return }
        plannedClose = PlannedClose(replyAt: now, reply: nil, closesAt: now)
    }

    func takeReply(at now: Instant) -> BinaryReply? {
        guard let reply = plannedClose?.reply, plannedClose.map({ $0.replyAt <= now }) == true else {
            return nil
        }
        plannedClose?.reply = nil
        return reply
    }
}
