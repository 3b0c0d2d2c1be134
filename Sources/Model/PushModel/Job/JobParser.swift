/// Parses a job from an app's inbox. A job with an unknown field or a wrong value is refused.
///
/// The payload's bytes stay exactly as the producer wrote them.
package enum JobParser {
    /// - Parameters:
    ///   - raw: the job's bytes from the producer. The caller must check first that the job is not too large.
    ///   - app: the app of the inbox.
    ///   - topic: the app's own topic.
    ///   - now: the present time in Unix seconds.
    package static func parse(
        _ raw: [UInt8], app: String, topic: String, now: Int64, limits: JobLimits = JobLimits()
    ) throws(JobError) -> ParsedJob {
        guard raw.count <= Int(Int32.max) else {
            throw JobError(
                field: "job", position: 0, reason: "the job has \(raw.count) bytes, which is far too many")
        }
        return try raw.withUnsafeBufferPointer { (buffer) throws(JobError) in
            let bytes = UnsafeRawBufferPointer(buffer)
            var envelope = JobEnvelope(bytes, limits: limits)
            var tokens = TokenList()
            do throws(JobError) {
                try envelope.read(tokens: &tokens)
                return try job(raw, envelope, &tokens, app: app, topic: topic, now: now, limits: limits)
            } catch {
                var error = error
                error.id = (try? JobFields(envelope).id()) ?? nil
                throw error
            }
        }
    }

    private static func job(
        _ raw: [UInt8], _ envelope: JobEnvelope, _ tokens: inout TokenList, app: String, topic: String,
        now: Int64,
        limits: JobLimits
    ) throws(JobError) -> ParsedJob {
        let fields = JobFields(envelope)
        let id = try fields.id()
        try fields.checkApp(app)
        let deliverAt = try fields.deliverAt(now: now)
        let rules = OptionRules(topic: topic, now: now, start: deliverAt ?? now, limits: limits)
        let options = try fields.options(
            topic: topic, now: now, start: rules.start, longestWait: limits.longestWait)
        try fields.checkTopic(options, ofApp: topic, limits: limits)
        let lane = try fields.lane()
        let content = try JobRecipients(fields, options, rules).content(&tokens)
        return ParsedJob(
            raw: raw, id: id, replayOf: try fields.replayOf(), options: options, lane: lane,
            deliverAt: deliverAt, recipients: content.recipients,
            unknownRecipients: try fields.unknownRecipients(), capped: try fields.capped(),
            warning: warning(fields, options, content.samples, now: now),
            submitted: tokens.submitted,
            duplicates: tokens.duplicates, malformed: tokens.malformed, payload: content.shared,
            details: content.details, tokenBytes: tokens.takeBytes(), pushes: tokens.entries)
    }

    /// A warning about an allowed value that is probably a mistake.
    /// - Parameter payloads: the payloads to check for mistakes.
    private static func warning(
        _ fields: JobFields, _ options: PushOptions, _ payloads: [Range<Int>], now: Int64
    ) -> String? {
        let bytes = fields.envelope.bytes
        let payload = payloads.lazy.compactMap {
            PayloadWarning.find(in: $0, of: bytes, pushType: options.pushType)
        }.first
        let (start, end) = (
            fields.deliverAtWarning(now: now), fields.expirationWarning(options, now: now)
        )
        // Most jobs get no warning. For these jobs, the function returns here, before it creates a text.
        guard payload != nil || start != nil || end != nil else { return nil }
        return [start, end, payload?.rawValue].compactMap { $0 }.joined(separator: "; ")
    }
}
