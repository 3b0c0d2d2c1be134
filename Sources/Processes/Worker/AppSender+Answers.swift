import APNs
import ControlChannel
import EventLoop
import FarmPolicy
import Gateway
import PushModel

#if FAILPOINTS
    import Failpoints
#endif

/// What became of a push, and what that means for its batch, its app and its connection.
extension AppSender {
    func settled(_ ticket: PushTicket, _ fate: SendOutcome) {
        guard let batch = window.held[ticket.batch] else { return }
        let position = Int(ticket.position)
        let wasCareful = batch.isCareful
        defer { if wasCareful { context.exclusiveTurn.cameBack(to: self) } }
        #if FAILPOINTS
            Failpoint.hit("answer", token: batch.batch.bytes[batch.batch.pushes[position].token])
        #endif
        switch fate {
        case .delivered:
            breaker.answered()
            streak.other()
            counts.delivered += 1
            if !coolDown.isEmpty { coolDown.accepted(batch.device(of: position), at: .now) }
            window.delivered(batch, position)
            if provenGeneration != generation { prove() }
        case .unprocessed:
            breaker.probeReturned(at: .now)
            window.giveBack(batch, position)
        case .unknown(let cause):
            if !breaker.isClosed { breaker.troubled(at: .now, using: &random) }
            lostTrack(batch, position, cause)
        case .refused(let refusal): refused(batch, position, refusal)
        }
        schedule()
    }

    private func refused(_ batch: HeldBatch, _ position: Int, _ refusal: Rejection) {
        func retry(_ cause: RetryCause, _ reason: String) -> ReportedOutcome {
            .retry(cause, status: refusal.status, reason: reason, retryAfterMilliseconds: asked(refusal))
        }
        note(refusal.verdict, of: batch, position)
        switch refusal.verdict {
        case .serverTrouble(let reason, _), .outcomeUnknown(let reason):
            trouble = reason
            breaker.troubled(at: .now, using: &random)
        default: breaker.answered()
        }
        if case .configurationWrong = refusal.verdict {} else { streak.other() }
        switch refusal.verdict {
        case .delivered: preconditionFailure("an acceptance told as a refusal")
        case .tokenDead(let reason, let timestamp, let isDeclared):
            let isDead = isDeclared && !wasRegisteredSince(batch, position, refusal, timestamp)
            let scope = isDead ? bury(batch, position, refusal, timestamp: timestamp) : nil
            settle(
                batch, position,
                .failed(reason: reason, status: refusal.status, isDead: isDead, scope: scope),
                timestamp: timestamp)
        case .requestWrong(let reason):
            settle(batch, position, .refused(reason: reason, status: refusal.status))
        case .configurationWrong(let reason): misconfigured(batch, position, refusal, reason)
        case .credentialsWrong(let reason): doubt(batch, position, .credentialsWrong, refusal, reason)
        case .credentialsStale(let reason): doubt(batch, position, .credentialsStale, refusal, reason)
        case .authenticationSlow(let reason): settle(batch, position, retry(.authSlow, reason))
        case .throttled(let reason): throttled(batch, position, refusal, reason)
        case .serverTrouble(let reason, let reconnect):
            settle(batch, position, retry(.server, reason))
            if reconnect || !breaker.isClosed { pool.retireAll() }
        case .outcomeUnknown(let reason):
            lostTrack(batch, position, reason, status: refusal.status)
            if !breaker.isClosed { pool.retireAll() }
        case .processingFailed(let reason): settle(batch, position, retry(.processing, reason))
        case .connectionOver:
            pool.retireAll()
            window.giveBack(batch, position)
        }
    }

    /// The push may have been accepted, or not: it is sent again only if its job allows that.
    private func lostTrack(_ batch: HeldBatch, _ position: Int, _ cause: String, status: UInt16 = 0) {
        let delivery = batch.batch.segments[batch.segment(of: position)].options.delivery
        settle(
            batch, position,
            delivery == .atMostOnce
                ? .lostTrack(cause: cause)
                : .retry(.unknownOutcome, status: status, reason: cause, retryAfterMilliseconds: 0))
    }

    /// The topic is wrong. One that the job chose is the job's fault; the app's own pauses it after some in a row.
    private func misconfigured(_ batch: HeldBatch, _ position: Int, _ refusal: Rejection, _ reason: String) {
        let options = batch.batch.segments[batch.segment(of: position)].options
        if options.topic == nil, streak.wrong() {
            return doubt(batch, position, .configurationWrong, refusal, reason)
        }
        settle(batch, position, .refused(reason: reason, status: refusal.status))
    }

    /// An answer that concerns the whole app: nothing more is sent until the coordinator has decided.
    private func doubt(
        _ batch: HeldBatch, _ position: Int, _ doubt: Notice.Doubt, _ refusal: Rejection, _ reason: String
    ) {
        window.giveBack(batch, position)
        guard hold == nil, refusal.generation == generation else { return }
        hold = .doubt
        pool.retireAll()
        context.tell(.doubt(app: name, doubt, generation: generation, reason: reason))
    }

    func settle(_ batch: HeldBatch, _ position: Int, _ fact: ReportedOutcome, timestamp: Int64? = nil) {
        switch fact {
        case .failed, .refused, .suppressed, .lostTrack, .expired: counts.failed += 1
        case .retry: counts.retried += 1
        }
        window.settle(batch, position, fact, timestamp: timestamp)
    }

    private func prove() {
        provenGeneration = generation
        context.tell(.proved(app: name, generation: generation))
    }
}
