import APNs
import BinaryProtocol
import PushModel

/// Simulates one connection of the binary interface: accepts frames until the first refused frame, and discards all later
/// frames. The simulation has no socket and no clock.
struct BinaryConnectionState {
    /// The number and identifier of a frame on the connection.
    struct FramePosition: Hashable {
        /// The number of the frame, counted from 1.
        var number = 0
        /// The frame's identifier; 0 if the frame has none.
        var identifier: UInt32 = 0
        /// Whether a reply can name the frame.
        var isIdentified = true
    }

    enum Outcome: Hashable {
        case accepted
        /// The frame was refused. `isLost` is true if a fault drops the reply or a part of the reply.
        case refused(BinaryStatus, isLost: Bool)
        case discarded(after: FramePosition)
    }

    enum Cause: Hashable {
        case refusal, shutdown, none
    }

    struct End: Hashable {
        let cause: Cause
        /// The refused frame; if no frame was refused, the last accepted frame before a close or a shutdown.
        let position: FramePosition
        /// The reply to send; nil means that the connection is closed without a reply.
        var reply: BinaryReply?
        var isReplyLost = false
        /// The number of bytes of the reply that are sent.
        var replyLength = BinaryReply.length
        /// The delay between two bytes of the reply; nil means that all bytes are sent together.
        var pause: Latency?
        var isReset = false
        /// The delay before the reply.
        var replyDelay: Double = 0
        /// The delay between the reply and the close. Without a reply, the delay starts at once.
        var closeDelay: Double = 0

        var isReplyCut: Bool { replyLength < BinaryReply.length }
    }

    private(set) var end: End?
    private(set) var last = FramePosition()
    /// This connection's random numbers. Some faults apply only to a share of the connections. The numbers decide whether a fault
    /// applies to this connection.
    private let draws: (closing: Double, shutdown: Double)

    init(random: inout SeededRandom) {
        draws = (random.fraction(), random.fraction())
    }

    mutating func take(
        identifier: UInt32, of command: BinaryCommand, _ verdict: BinaryJudge.Verdict,
        faults: BinaryFaults, random: inout SeededRandom
    ) -> Outcome {
        let position = next(identifier, isIdentified: command.isIdentified)
        if let end { return .discarded(after: end.position) }
        if case .refused(let status) = verdict {
            let isUnnamed = status == .missingDeviceToken && !faults.namesEmptyTokens
            return refuse(position, status, naming: isUnnamed ? 0 : identifier, faults, &random)
        }
        if let refusal = faults.refusal, random.happens(refusal.share) {
            return refuse(position, refusal.status, naming: identifier, faults, &random)
        }
        if let shutdown = faults.shutdown, applies(shutdown, draws.shutdown) {
            shutDown(faults: faults, random: &random)
        } else if let closing = faults.closing, applies(closing, draws.closing) {
            close(closing, random: &random)
        }
        return .accepted
    }

    mutating func takeUnreadable(
        identifier: UInt32, faults: BinaryFaults, random: inout SeededRandom
    ) -> Outcome {
        let position = next(identifier, isIdentified: true)
        if let end { return .discarded(after: end.position) }
        return refuse(position, .protocolError, naming: identifier, faults, &random)
    }

    /// Handles a byte that is not a known command. All bytes after this byte cannot be parsed.
    mutating func takeUnknownCommand(
        faults: BinaryFaults, random: inout SeededRandom
    ) -> Outcome {
        let position = next(0, isIdentified: !faults.closesAtUnknownCommand)
        if let end { return .discarded(after: end.position) }
        return refuse(position, .protocolError, naming: 0, faults, &random)
    }

    /// Sends a shutdown reply that names the last accepted notification.
    mutating func shutDown(faults: BinaryFaults, random: inout SeededRandom) {
        guard end == nil else { return }
        conclude(.shutdown, last, .shutdown, naming: last.identifier, faults, &random)
    }

    mutating func close(_ closing: BinaryFaults.Ending, random: inout SeededRandom) {
        guard end == nil else { return }
        var end = End(cause: .none, position: last)
        end.isReset = closing.isReset
        end.closeDelay = closing.delay.draw(&random)
        self.end = end
    }

    private mutating func next(_ identifier: UInt32, isIdentified: Bool) -> FramePosition {
        last = FramePosition(number: last.number + 1, identifier: identifier, isIdentified: isIdentified)
        return last
    }

    private func applies(_ ending: BinaryFaults.Ending, _ draw: Double) -> Bool {
        ending.every > 0 && last.number % ending.every == 0 && draw < ending.share
    }

    /// Whether the connection ends before its first frame.
    func endsAtOnce(_ closing: BinaryFaults.Ending?) -> Bool {
        closing.map { $0.every == 0 && draws.closing < $0.share } ?? false
    }

    private mutating func refuse(
        _ position: FramePosition, _ status: BinaryStatus, naming identifier: UInt32, _ faults: BinaryFaults,
        _ random: inout SeededRandom
    ) -> Outcome {
        conclude(.refusal, position, status, naming: identifier, faults, &random)
        return .refused(status, isLost: end.map { $0.isReplyLost || $0.isReplyCut } ?? false)
    }

    private mutating func conclude(
        _ cause: Cause, _ position: FramePosition, _ status: BinaryStatus, naming identifier: UInt32,
        _ faults: BinaryFaults, _ random: inout SeededRandom
    ) {
        var end = End(cause: cause, position: position)
        if position.isIdentified { end.reply = BinaryReply(status: status, identifier: identifier) }
        end.replyDelay = faults.delay.draw(&random)
        end.closeDelay = faults.linger.draw(&random)
        if let loss = faults.lostReplies, end.reply != nil, random.happens(loss.share) {
            end.reply = nil
            end.isReplyLost = true
            end.isReset = loss.isReset
        }
        if let cut = faults.cutReplies, end.reply != nil, random.happens(cut.share) {
            end.replyLength = cut.bytes ?? Int.random(in: 1..<BinaryReply.length, using: &random)
            end.isReset = cut.isReset
        }
        if let trickle = faults.trickledReplies, end.reply != nil, random.happens(trickle.share) {
            end.pause = trickle.pause
        }
        self.end = end
    }
}

/// Decides the status of one notification of the binary interface from its sizes and its token. Injected faults are not
/// considered.
///
/// The checks run in the order of the status numbers, and the first failed check decides. Errors of the gateway itself
/// are checked last.
struct BinaryJudge {
    enum Verdict: Hashable {
        case accepted
        /// The notification is accepted, but its token is unregistered or expired; `since` is the start of that state,
        /// in milliseconds since 1970.
        case undeliverable(since: Int64)
        case refused(BinaryStatus)
    }

    var tokenLengths = [32]

    /// - Parameter hasTopic: true if the connection's certificate names a topic, or if the connection needs no topic.
    func judge(
        _ push: BinaryNotification, as command: BinaryCommand, hasTopic: Bool, table: borrowing TokenTable
    ) -> Verdict {
        if push.token.isEmpty { return .refused(.missingDeviceToken) }
        if !hasTopic { return .refused(.missingTopic) }
        if push.payload.isEmpty { return .refused(.missingPayload) }
        if !tokenLengths.contains(push.token.count) { return .refused(.invalidTokenSize) }
        if push.payload.count > command.longestPayload { return .refused(.invalidPayloadSize) }
        guard let rule = table.rule(forBytes: push.token) else {
            return Self.isZero(push.token) ? .refused(.invalidToken) : .accepted
        }
        switch rule {
        case .state(let state): return Self.verdict(on: state)
        case .trouble: return .refused(.processingError)
        case .silent: return .accepted
        }
    }

    private static func verdict(on state: TokenState) -> Verdict {
        switch state {
        case .unknown, .otherTopic, .otherEnvironment: .refused(.invalidToken)
        case .unregistered(let since), .expired(let since): .undeliverable(since: since)
        case .valid, .throttled: .accepted
        }
    }

    /// Whether the token is all zero. A client sends an all-zero token if the client forgets to fill the token's array.
    private static func isZero(_ token: UnsafeRawBufferPointer) -> Bool {
        token[0] == 0 && token.allSatisfy { $0 == 0 }
    }
}
