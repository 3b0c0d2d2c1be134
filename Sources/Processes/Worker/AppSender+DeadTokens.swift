import APNs
import EventLoop
import Gateway
import PushModel

/// Pushes to tokens that are known to be dead never reach the wire.
extension AppSender {
    /// Why a push is left out, and since when its token is dead, in Unix seconds; nil if it is to be sent.
    func suppression(
        _ batch: HeldBatch, _ segment: Int, token: UnsafeRawBufferPointer, _ shelf: DeadTokens.Shelf,
        at seconds: Int64
    ) -> (reason: SuppressionReason, since: Int64)? {
        let options = batch.batch.segments[segment].options
        return shelf.table.entry(
            token, scope: scope(of: options).number, registeredAt: options.registeredAt, now: seconds)
    }

    /// The producer saw the token registered after the moment at which it died, as a gateway says that names one.
    func wasRegisteredSince(
        _ batch: HeldBatch, _ position: Int, _ refusal: Rejection, _ timestamp: Int64?
    ) -> Bool {
        guard let timestamp, let answer = refusal.verdict.reason,
            let registered = batch.batch.segments[batch.segment(of: position)].options.registeredAt,
            SuppressionReason(answer: answer, status: Int(refusal.status))?.yieldsToRegistration == true
        else { return false }
        let (milliseconds, overflow) = registered.multipliedReportingOverflow(by: 1000)
        return overflow ? registered > 0 : timestamp < milliseconds
    }

    /// The gateway declared a token dead: it counts at once.
    ///
    /// - Parameter timestamp: milliseconds since 1970 when the gateway found it dead, if it said so.
    /// - Returns: the text of the scope in which it is to be left out; nil if what was sent belongs to another one.
    func bury(_ batch: HeldBatch, _ position: Int, _ refusal: Rejection, timestamp: Int64?) -> String? {
        guard refusal.generation >= scopeGeneration, let answer = refusal.verdict.reason,
            let reason = SuppressionReason(answer: answer, status: Int(refusal.status))
        else { return nil }
        let push = batch.batch.pushes[position]
        let scope = scope(of: batch.batch.segments[Int(push.segment)].options)
        guard scope.text.utf8.count <= 255 else { return nil }
        let seconds = context.redis.clock.seconds
        let record = SuppressionRecord(
            reason: reason, scope: scope.number, time: timestamp.map { min($0 / 1000, seconds) } ?? seconds,
            token: batch.batch.bytes[push.token])
        // While the app is paused, Redis lets nothing of that kind through.
        if hold?.isPause != true && !deadTokens.isHolding || !reason.mayBeEnvironment {
            deadTokens.note(record, of: batch.shard, at: seconds)
        }
        return scope.text
    }

    /// A binary gateway knows one topic only, that of the certificate.
    private func scope(of options: PushOptions) -> Scope {
        let wanted = hasOneTopic ? topic : options.topic ?? options.pushType.topic(ofApp: topic)
        if let known = scopes[wanted] { return known }
        if scopes.count >= 1000 { scopes = [:] }
        let scope = SuppressionScope(environment: environment, topic: wanted)
        scopes[wanted] = Scope(number: scope.number, text: scope.text)
        return Scope(number: scope.number, text: scope.text)
    }

    /// As records and reports have it.
    struct Scope {
        let number: UInt32
        let text: String
    }
}
