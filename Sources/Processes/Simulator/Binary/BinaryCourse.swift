import APNs
import BinaryProtocol
import PushModel

/// What happens on one connection of the binary interface: frames are accepted until one is not, and everything behind it
/// is discarded. Owns no socket and no clock.
struct BinaryCourse {
    /// A frame of the connection.
    struct Place: Hashable {
        /// Counted from 1.
        var number = 0
        /// 0: it had none.
        var identifier: UInt32 = 0
        /// A reply can name it.
        var isIdentified = true
    }

    enum Outcome: Hashable {
        case accepted
        /// `isLost`: the reply is lost on purpose, or a part of it.
        case refused(BinaryStatus, isLost: Bool)
        case discarded(after: Place)
    }

    enum Cause: Hashable {
        case refusal, shutdown, none
    }

    struct End: Hashable {
        let cause: Cause
        /// The last frame that counts: refused, or accepted before a close or a shutdown.
        let place: Place
        /// Nil: no word.
        var reply: BinaryReply?
        var isReplyLost = false
        /// Only these bytes of the reply are sent.
        var replyLength = BinaryReply.length
        /// From one byte of the reply to the next; nil: they are sent in one.
        var pause: Latency?
        var isReset = false
        /// From now to the reply.
        var replyDelay: Double = 0
        /// From the reply, or from now if there is none, to the close.
        var closeDelay: Double = 0

        var isReplyCut: Bool { replyLength < BinaryReply.length }
    }

    private(set) var end: End?
    private(set) var last = Place()
    /// Random numbers that decide whether faults for a share of the connections apply to this connection.
    private let draws: (closing: Double, shutdown: Double)

    init(random: inout SeededRandom) {
        draws = (random.fraction(), random.fraction())
    }

    mutating func take(
        identifier: UInt32, of command: BinaryCommand, _ verdict: BinaryJudge.Verdict,
        faults: BinaryFaults, random: inout SeededRandom
    ) -> Outcome {
        let place = next(identifier, isIdentified: command.isIdentified)
        if let end { return .discarded(after: end.place) }
        if case .refused(let status) = verdict {
            let isUnnamed = status == .missingDeviceToken && !faults.namesEmptyTokens
            return refuse(place, status, naming: isUnnamed ? 0 : identifier, faults, &random)
        }
        if let refusal = faults.refusal, random.happens(refusal.share) {
            return refuse(place, refusal.status, naming: identifier, faults, &random)
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
        let place = next(identifier, isIdentified: true)
        if let end { return .discarded(after: end.place) }
        return refuse(place, .protocolError, naming: identifier, faults, &random)
    }

    /// A byte that begins no command: nothing behind it can be read.
    mutating func takeUnknownCommand(
        faults: BinaryFaults, random: inout SeededRandom
    ) -> Outcome {
        let place = next(0, isIdentified: !faults.closesAtUnknownCommand)
        if let end { return .discarded(after: end.place) }
        return refuse(place, .protocolError, naming: 0, faults, &random)
    }

    /// Says that the gateway goes, naming the last notification that was accepted.
    mutating func shutDown(faults: BinaryFaults, random: inout SeededRandom) {
        guard end == nil else { return }
        conclude(.shutdown, last, .shutdown, naming: last.identifier, faults, &random)
    }

    mutating func close(_ closing: BinaryFaults.Ending, random: inout SeededRandom) {
        guard end == nil else { return }
        var end = End(cause: .none, place: last)
        end.isReset = closing.isReset
        end.closeDelay = closing.delay.draw(&random)
        self.end = end
    }

    private mutating func next(_ identifier: UInt32, isIdentified: Bool) -> Place {
        last = Place(number: last.number + 1, identifier: identifier, isIdentified: isIdentified)
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
        _ place: Place, _ status: BinaryStatus, naming identifier: UInt32, _ faults: BinaryFaults,
        _ random: inout SeededRandom
    ) -> Outcome {
        conclude(.refusal, place, status, naming: identifier, faults, &random)
        return .refused(status, isLost: end.map { $0.isReplyLost || $0.isReplyCut } ?? false)
    }

    private mutating func conclude(
        _ cause: Cause, _ place: Place, _ status: BinaryStatus, naming identifier: UInt32,
        _ faults: BinaryFaults, _ random: inout SeededRandom
    ) {
        var end = End(cause: cause, place: place)
        if place.isIdentified { end.reply = BinaryReply(status: status, identifier: identifier) }
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

/// Judges one notification of the binary interface: what its sizes and its token deserve, were there no faults.
///
/// The first that fails decides, in the order of the statuses, and the gateway's own trouble comes last.
struct BinaryJudge {
    enum Verdict: Hashable {
        case accepted
        /// Accepted, but the token is unregistered; `since`: milliseconds since 1970.
        case undeliverable(since: Int64)
        case refused(BinaryStatus)
    }

    var tokenLengths = [32]

    /// - Parameter hasTopic: whether the connection's certificate names one, or needs none.
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

    /// What a sender reads from an array that was never filled.
    private static func isZero(_ token: UnsafeRawBufferPointer) -> Bool {
        token[0] == 0 && token.allSatisfy { $0 == 0 }
    }
}
