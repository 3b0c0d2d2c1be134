import APNs
import BinaryProtocol
import FarmPolicy
import PushModel

/// Determines the outcomes of pushes: from a reply, after the quiet time, and at the end of the connection.
extension BinaryExchange {
    func judge(_ reply: BinaryReply, at now: Instant) {
        let reason = reply.status.reason
        guard reply.status != .noError else { return finish("a reply without an error") }
        switch judgement(of: reply, at: now) {
        case .lastAccepted(let safe): accept(safe)
        case .refused(let safe, let delay):
            accept(safe)
            delay.map { profile.quiet.replied(after: $0) }
            isProven = reply.status.verdict.map { !$0.rejectsCredentials } ?? isProven
            if let culprit = window.popFirst(), culprit != Self.sentinel {
                profile.windowLimit.refused(after: accepted)
                reject(PushTicket(culprit), with: reply.status)
            }
        case .late(let count):
            // The reply arrived after the quiet time of the refused push had ended, so the quiet time was too short
            // and is increased.
            profile.quiet.wasTooShort()
            events.append(.deliveredPushesLost(count: count, reason: reason))
        case .foreign:
            guard isAboutSentinel(reply) else { return finish("\(reason) about no push of ours") }
            accept(window.count - 1)
        }
        // The gateway did not process the pushes after the refused push.
        while let ticket = pop() { events.append(.completed(ticket, .unprocessed)) }
        finish(reason)
    }

    private func judgement(of reply: BinaryReply, at now: Instant) -> SendWindow.Judgement {
        // The gateway cannot have received a frame that was never handed over, so the identifier is invalid.
        if let end = window.end(of: reply.identifier), end > handed { return .foreign }
        return reply.status == .shutdown
            ? window.lastAccepted(reply.identifier) : window.refused(reply.identifier, at: now)
    }

    /// Whether the reply refuses the sentinel. Some gateways name no push in a reply about a missing or too short
    /// token. Only the sentinel has a token of one byte, so such a reply refuses the sentinel.
    private func isAboutSentinel(_ reply: BinaryReply) -> Bool {
        guard reply.identifier == 0, window.last == Self.sentinel, handed == window.written else {
            return false
        }
        return reply.status == .missingDeviceToken || reply.status == .invalidTokenSize
    }

    /// Notes that the oldest `count` pushes were accepted.
    func accept(_ count: Int) {
        guard count > 0 else { return }
        isProven = true
        accepted += count
        profile.windowLimit.accepted(count)
        for _ in 0..<count {
            guard let ticket = window.popFirst(), ticket != Self.sentinel else { continue }
            events.append(.completed(PushTicket(ticket), .delivered))
        }
    }

    func reject(_ ticket: PushTicket, with status: BinaryStatus) {
        guard let verdict = status.verdict else { return }
        events.append(
            .completed(
                ticket,
                .rejected(
                    Rejection(
                        verdict: verdict, status: UInt16(status.rawValue), retryAfter: nil,
                        generation: generation))))
    }

    /// Removes and returns the oldest push, except the sentinel.
    private func pop() -> PushTicket? {
        while let ticket = window.popFirst() {
            if ticket != Self.sentinel { return PushTicket(ticket) }
        }
        return nil
    }

    func resize() {
        let before = room
        window.longest = profile.windowLimit.window
        if room > before || room > 0 && window.isEmpty { events.append(.roomAvailable) }
    }

    // MARK: The end

    /// Handles the close of the connection: each open push ends with its outcome if the outcome is known, else with an
    /// unknown outcome.
    ///
    /// - Parameter isPeersDoing: whether the peer, not this process, closed the connection.
    func end(_ reason: String, isPeersDoing: Bool, at now: Instant) {
        guard !hasEnded else { return }
        phase = .ended
        // The last check already counted pushes as delivered if their quiet time had ended. The time since that check
        // does not count as quiet time, because the close may have arrived long before it was read.
        for _ in 0..<unknownCount(isPeersDoing: isPeersDoing) {
            guard let ticket = window.popFirst(), ticket != Self.sentinel else { continue }
            events.append(.completed(PushTicket(ticket), .unknown(cause: "connection lost: \(reason)")))
        }
        while let ticket = pop() { events.append(.completed(ticket, .unprocessed)) }
        events.append(.ended(reason: reason))
    }

    /// If the gateway closes the connection without a reply, the outcomes of all pushes in the window are unknown, and
    /// these pushes may be sent again. The next windows are smaller, so that the push that caused the close can be
    /// found among fewer pushes. In a format without identifiers, a close without a reply means that the gateway
    /// refused a push of the window. The refused push is known only if the window contains a single push.
    ///
    /// - Returns: the number of pushes with unknown outcome.
    private func unknownCount(isPeersDoing: Bool) -> Int {
        let whole = window.whole
        guard whole > 0, isPeersDoing else { return whole }
        profile.windowLimit.becameUnknown()
        guard !settings.command.isIdentified, whole == 1 else { return whole }
        // If the gateway has read the push, the gateway refuses the push by this close, but accepts the credentials.
        if window.hasArrived { isProven = true }
        guard let ticket = pop() else { return whole }
        let verdict = Verdict.processingFailed(reason: "ClosedWithoutReply")
        events.append(
            .completed(
                ticket,
                .rejected(Rejection(verdict: verdict, status: 0, retryAfter: nil, generation: generation))))
        return 0
    }

    func finish(_ reason: String) {
        guard phase < .over else { return }
        phase = .over
        events.append(.isOver(reason: reason))
    }

    func finishIfDone() {
        if phase == .retiring, window.isEmpty { finish("retired") }
    }
}

extension PushTicket {
    fileprivate init(_ packed: UInt64) {
        self.init(
            batch: UInt32(truncatingIfNeeded: packed >> 32), position: UInt32(truncatingIfNeeded: packed))
    }
}

extension Verdict {
    fileprivate var rejectsCredentials: Bool {
        if case .credentialsWrong = self { true } else { false }
    }
}
