import APNs
import ControlChannel
import Delivery
import EventLoop
import FarmPolicy
import Gateway
import Logging
import PushModel

#if FAILPOINTS
    import Failpoints
#endif

/// Handles events from connections and the pool: outcomes of pushes, ended connections and failed dials. The
/// sender decides what an outcome means for the batch, the app and the connection.
extension AppSender {
    // MARK: Connections

    func roomAvailable(on connection: any GatewayConnection) { schedule() }

    func retired(_ connection: any GatewayConnection, reason: String, verdict: Verdict) {
        context.log.debug(
            "connection takes no more pushes", metadata: ["app": "\(name)", "reason": "\(reason)"])
        pool.connectionRetired(connection)
        schedule()
        // A gateway may refuse credentials by closing the connection, without a response to a push. An example is a certificate
        // of the other environment.
        guard case .credentialsWrong(let reason) = verdict, suspension == nil else { return }
        pool.retireAll()
        suspendUntilDecision(.credentialsWrong, reason)
    }

    func deliveredPushesLost(on connection: any GatewayConnection, count: Int, reason: String) {
        context.log.error(
            "the gateway rejected pushes that had counted as delivered",
            metadata: ["app": "\(name)", "pushes": "\(count)", "reason": "\(reason)"])
        context.notify(.deliveredPushesLost(app: name, pushes: UInt32(clamping: count), reason: reason))
    }

    func ended(_ connection: any GatewayConnection, reason: String) {
        pool.remove(connection, reason: reason)
        context.log.info("connection ended", metadata: ["app": "\(name)", "reason": "\(reason)"])
        schedule()
    }

    func dialFailed(_ reason: String, refusedByPeer: Bool) {
        context.log.warning("cannot connect", metadata: ["app": "\(name)", "reason": "\(reason)"])
        schedule()
        guard refusedByPeer, pool.refusalsInARow >= 3, suspension == nil else { return }
        suspendUntilDecision(.credentialsWrong, reason)
    }

    func dialPauseEnded() { schedule() }

    /// Stops sending until the coordinator pauses the app or sends credentials again.
    private func suspendUntilDecision(_ setting: WorkerNotice.RejectedSetting, _ reason: String) {
        suspension = .undecided
        context.notify(.settingRejected(app: name, setting, generation: generation, reason: reason))
    }

    // MARK: Outcomes

    func completed(_ ticket: PushTicket, _ outcome: SendOutcome) {
        guard let batch = window.batch(ticket.batch) else { return }
        let position = Int(ticket.position)
        let wasSuspect = batch.isSuspect
        defer { if wasSuspect { context.suspectTurn.noteResponse(to: self) } }
        #if FAILPOINTS
            Failpoint.hit("answer", token: batch.batch.bytes[batch.batch.pushes[position].token])
        #endif
        switch outcome {
        case .delivered:
            gatewayHealth.delivered()
            counts.addDelivered()
            if !coolDowns.isEmpty { coolDowns.accepted(batch, position, at: .now) }
            window.delivered(batch, position)
            if provenGeneration != generation {
                provenGeneration = generation
                context.notify(.credentialsAccepted(app: name, generation: generation))
            }
        case .unprocessed:
            gatewayHealth.unprocessed(at: .now)
            window.reopen(batch, position)
        case .unknown(let cause):
            gatewayHealth.lostResponse(at: .now)
            becameUnknown(batch, position, cause)
        case .rejected(let rejection): rejected(batch, position, rejection)
        }
        schedule()
    }

    private func rejected(_ batch: HeldBatch, _ position: Int, _ rejection: Rejection) {
        func retry(_ cause: RetryCause, _ reason: String) -> UndeliveredResult {
            .retry(
                cause, status: rejection.status, reason: reason,
                retryAfterMilliseconds: requestedDelay(in: rejection))
        }
        informGovernor(of: rejection.verdict, batch, position)
        gatewayHealth.rejected(rejection.verdict, at: .now)
        switch rejection.verdict {
        case .tokenInvalid(let reason, let timestamp):
            invalidToken(batch, position, rejection, reason, timestamp)
        case .requestWrong(let reason):
            record(batch, position, as: .deadLetter(reason: reason, status: rejection.status))
        case .configurationWrong(let reason): misconfigured(batch, position, rejection, reason)
        case .credentialsWrong(let reason):
            settingRejected(batch, position, .credentialsWrong, rejection, reason)
        case .credentialsStale(let reason):
            settingRejected(batch, position, .credentialsStale, rejection, reason)
        case .authenticationSlow(let reason): record(batch, position, as: retry(.authSlow, reason))
        case .throttled(let reason): throttled(batch, position, rejection, reason)
        case .serverTrouble(let reason, let reconnect):
            record(batch, position, as: retry(.server, reason))
            if reconnect || !gatewayHealth.allowsSending { pool.retireAll() }
        case .outcomeUnknown(let reason):
            becameUnknown(batch, position, reason, status: rejection.status)
            if !gatewayHealth.allowsSending { pool.retireAll() }
        case .processingFailed(let reason): record(batch, position, as: retry(.processing, reason))
        case .connectionOver:
            pool.retireAll()
            window.reopen(batch, position)
        }
    }

    private func invalidToken(
        _ batch: HeldBatch, _ position: Int, _ rejection: Rejection, _ reason: String, _ timestamp: Int64?
    ) {
        let isInvalid = !suppression.wasRegisteredSince(batch, position, rejection, timestamp)
        var scope: String?
        if isInvalid {
            scope = suppression.suppress(
                batch, position, rejection, timestamp: timestamp, isPaused: suspension?.isPause == true,
                at: context.redis.clock.seconds)
        }
        record(
            batch, position,
            as: .tokenFailed(
                reason: reason, status: rejection.status, isInvalidToken: isInvalid, scope: scope),
            timestamp: timestamp)
    }

    /// Handles a push that the gateway refused because its device gets too many pushes.
    private func throttled(_ batch: HeldBatch, _ position: Int, _ rejection: Rejection, _ reason: String) {
        var wait = Duration.milliseconds(Int64(requestedDelay(in: rejection)))
        // While the governor reduces the send rate because of the gateway, a single device gets no cool-down.
        if governor.rate == nil { wait = coolDowns.throttled(batch, position, asked: wait, at: .now) }
        record(
            batch, position,
            as: .retry(
                .throttled, status: rejection.status, reason: reason,
                retryAfterMilliseconds: UInt32(clamping: wait.milliseconds)))
    }

    private func informGovernor(of verdict: Verdict, _ batch: HeldBatch, _ position: Int) {
        switch verdict {
        case .serverTrouble, .outcomeUnknown: governor.troubled()
        case .throttled: governor.throttled(device: batch.device(of: position))
        default: governor.refused()
        }
    }

    /// Handles a push with unknown outcome. The push is sent again only if its job is at-least-once.
    private func becameUnknown(_ batch: HeldBatch, _ position: Int, _ cause: String, status: UInt16 = 0) {
        let delivery = batch.batch.jobParts[batch.jobPart(of: position)].options.delivery
        record(
            batch, position,
            as: delivery == .atMostOnce
                ? .becameUnknown(cause: cause)
                : .retry(.unknownOutcome, status: status, reason: cause, retryAfterMilliseconds: 0))
    }

    /// Handles a push whose topic was refused. The push fails. But if the topic is the app's own topic and was refused several
    /// times in a row, sending stops and the coordinator pauses the app.
    private func misconfigured(_ batch: HeldBatch, _ position: Int, _ rejection: Rejection, _ reason: String)
    {
        let options = batch.batch.jobParts[batch.jobPart(of: position)].options
        if options.topic == nil, gatewayHealth.topicRefused() {
            return settingRejected(batch, position, .configurationWrong, rejection, reason)
        }
        record(batch, position, as: .deadLetter(reason: reason, status: rejection.status))
    }

    /// Handles a response that concerns the whole app.
    private func settingRejected(
        _ batch: HeldBatch, _ position: Int, _ setting: WorkerNotice.RejectedSetting, _ rejection: Rejection,
        _ reason: String
    ) {
        window.reopen(batch, position)
        guard suspension == nil, rejection.generation == generation else { return }
        pool.retireAll()
        suspendUntilDecision(setting, reason)
    }

    /// Returns the delay that the gateway requested, in milliseconds and up to the accepted maximum; 0 when the
    /// gateway requested no delay.
    private func requestedDelay(in rejection: Rejection) -> UInt32 {
        let time = min(.seconds(Int64(rejection.retryAfter ?? 0)), longestRetryAfter)
        return UInt32(clamping: time.milliseconds)
    }

    /// Records the outcome of a push that was not delivered.
    func record(
        _ batch: HeldBatch, _ position: Int, as outcome: UndeliveredResult, timestamp: Int64? = nil
    ) {
        counts.add(outcome)
        window.record(batch, position, as: outcome, timestamp: timestamp)
    }
}
