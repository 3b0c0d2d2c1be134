extension JobFields {
    func id() throws(JobError) -> String? {
        try id(.id)
    }

    /// The id of the job that this job replays; nil if this job is not a replay.
    func replayOf() throws(JobError) -> String? {
        try id(.replayOf)
    }

    /// The number of recipients that the farm did not find; 0 if the field is absent.
    func unknownRecipients() throws(JobError) -> Int {
        let what = "a number of recipients; only the farm sets this field"
        return Int(foreign: try integer(.unknownRecipients, in: 0...1_000_000_000, mustBe: what) ?? 0)
    }

    /// The number of pushes that the farm left out because of the budget of background pushes; nil if the farm has not yet applied
    /// the budget.
    func capped() throws(JobError) -> Int? {
        let what = "a number of pushes; only the farm sets this field"
        return try integer(.capped, in: 0...1_000_000_000, mustBe: what).map { Int(foreign: $0) }
    }

    /// Whether the tokens of the job are those of stored devices.
    private func isStored() throws(JobError) -> Bool {
        try integer(.stored, in: 1...1, mustBe: "1; only the farm sets this field") != nil
    }

    private func id(_ field: JobField) throws(JobError) -> String? {
        let what = "a string of 1 to 64 characters without control characters"
        guard let id = try text(field, mustBe: what) else { return nil }
        guard (1...64).contains(id.unicodeScalars.count), id.utf8.count <= 255, !Self.hasControls(id) else {
            throw error(field, mustBe: what)
        }
        return id
    }

    /// Checks that the job arrived in the inbox of its own app.
    func checkApp(_ app: String) throws(JobError) {
        guard let named = try text(.app, mustBe: "the name of the app, as a string"), named != app else {
            return
        }
        throw error(
            .app,
            "\"app\" is \"\(Excerpt.of(named))\", but this is the inbox of \"\(app)\"; leave it out, or "
                + "push to the inbox of that app"
        )
    }

    func lane() throws(JobError) -> Lane {
        try word(.lane, among: Lane.allCases.map(\.name), Lane.init(name:)) ?? .high
    }

    /// The earliest sending time of the pushes, in Unix seconds; nil: the farm sends the pushes at once.
    func deliverAt(now: Int64) throws(JobError) -> Int64? {
        guard let time = try time(.deliverAt), time > now else { return nil }
        guard time <= now + JobLimits.longestTime else {
            throw error(.deliverAt, mustBe: "at most one year ahead")
        }
        return time
    }

    /// Warns about a `deliver_at` more than a year in the past: the producer may have meant a duration.
    /// If `deliver_at` is in the past, the farm sends the pushes at once.
    func deliverAtWarning(now: Int64) -> String? {
        guard let time = try? time(.deliverAt), time > 0, time < now - JobLimits.longestTime else {
            return nil
        }
        return "\"deliver_at\" is more than a year in the past"
            + (isText(.deliverAt) ? "" : "; it is a time in Unix seconds")
    }

    /// - Parameters:
    ///   - topic: the app's own topic.
    ///   - start: the earliest sending time in Unix seconds. The job's `ttl` counts from this time.
    ///   - longestWait: the longest time in seconds that the job may already have waited in the inbox.
    func options(
        topic: String, now: Int64, start: Int64, longestWait: Int64
    ) throws(JobError) -> PushOptions {
        let type = try pushType()
        let expiration = try expiration(type, now: now, start: start, longestWait: longestWait)
        let receipts = try word(.receipts, among: Receipts.allCases.map(\.name), Receipts.init(name:))
        let delivery = try word(
            .delivery, among: DeliveryGuarantee.allCases.map(\.name), DeliveryGuarantee.init(name:))
        let attempts = try integer(.maxAttempts, in: 1...100, mustBe: "a whole number from 1 to 100")
        return PushOptions(
            pushType: type, priority: try priority(type), expiration: expiration,
            deadline: expiration == 0 ? nil : expiration, collapseID: try collapseID(),
            topic: try self.topic(type, ofApp: topic), receipts: receipts ?? .failures,
            delivery: delivery ?? .atLeastOnce,
            maxAttempts: attempts.map { UInt8($0) } ?? PushOptions.defaultMaxAttempts,
            registeredAt: try time(.registeredAt), isStored: try isStored())
    }

    /// Checks that the job is allowed to use its topic.
    func checkTopic(_ options: PushOptions, ofApp topic: String, limits: JobLimits) throws(JobError) {
        guard let asked = options.topic, asked != topic else { return }
        if limits.hasOneTopic {
            throw error(
                .topic,
                "\"topic\" is \"\(Excerpt.of(asked))\", but the app's gateway speaks the binary protocol, which knows only the "
                    + "topic of the app's certificate; leave it out")
        }
        guard let topics = limits.topics else { return }
        guard ([topic] + topics).contains(where: { PushType.derives(asked, from: $0) }) else {
            throw error(
                .topic,
                "\"topic\" is \"\(Excerpt.of(asked))\", but the app's topic is \"\(Excerpt.of(topic))\"; leave it out, or let the "
                    + "farm's operator add it to the app's \"topics\"")
        }
    }

    private func pushType() throws(JobError) -> PushType {
        try word(.pushType, among: PushType.allCases.map(\.name), PushType.init(name:)) ?? .alert
    }

    private func priority(_ type: PushType) throws(JobError) -> UInt8 {
        guard let number = try integer(.priority, in: 0...255, mustBe: "1, 5 or 10") else {
            return type.defaultPriority
        }
        let priority = UInt8(number)
        guard [1, 5, 10].contains(priority) else { throw error(.priority, mustBe: "1, 5 or 10") }
        guard type.priorities.contains(priority) else {
            let allowed = type.priorities.map { "\($0)" }.joined(separator: " or ")
            throw error(.priority, mustBe: "\(allowed) with push_type \"\(type.name)\"")
        }
        return priority
    }

    /// Warns if the job's `expires_at` was in the past when the intake read the job. The pushes expire and are not sent.
    func expirationWarning(_ options: PushOptions, now: Int64) -> String? {
        guard let deadline = options.deadline, envelope[.expiresAt] != nil, deadline <= now else {
            return nil
        }
        return "\"expires_at\" is in the past; no push was sent"
    }

    func expiration(
        _ type: PushType, now: Int64, start: Int64, longestWait: Int64
    ) throws(JobError) -> Int64? {
        let ttl = try ttl()
        let expiresAt = try time(.expiresAt)
        if ttl != nil, expiresAt != nil {
            throw error(.expiresAt, "\"ttl\" and \"expires_at\" exclude each other; give one of them")
        }
        if let expiresAt, expiresAt > 0, expiresAt <= now - longestWait {
            // Mentions "ttl" only if the value is a number, because producers do not confuse a date with a duration.
            throw error(
                .expiresAt,
                "\"expires_at\" is in the past"
                    + (isText(.expiresAt)
                        ? ""
                        : "; did you mean \"ttl\"? It is a time in Unix seconds; \"ttl\" is a number of seconds")
            )
        }
        if type == .pushtotalk {
            guard ttl ?? 0 == 0 else { throw error(.ttl, mustBe: "0 with push_type \"pushtotalk\"") }
            guard expiresAt ?? 0 == 0 else {
                throw error(.expiresAt, mustBe: "0 with push_type \"pushtotalk\"")
            }
            return 0
        }
        if let ttl { return ttl == 0 ? 0 : start + ttl }
        if let expiresAt, expiresAt > 0, expiresAt <= start, envelope[.deliverAt] != nil {
            throw error(
                .deliverAt, "\"deliver_at\" is not before \"expires_at\"; all pushes would expire unsent")
        }
        return expiresAt
    }

    private func ttl() throws(JobError) -> Int64? {
        let longest = JobLimits.longestTime
        if let value = envelope[.ttl], value.kind == .number,
            let number = JSONScanner(envelope.bytes).integer(in: value.range), number > longest
        {
            throw error(
                .ttl,
                mustBe:
                    "whole seconds from 0 to \(longest) (a year); a time in Unix seconds is \"expires_at\"")
        }
        return try duration(.ttl, upTo: longest)
    }

    func collapseID() throws(JobError) -> String? {
        let what = "a string of 1 to 64 bytes, without control characters or white space at its ends"
        guard let id = try text(.collapseID, mustBe: what) else { return nil }
        guard (1...64).contains(id.utf8.count), !Self.hasControls(id), !id.hasPrefix(" "), !id.hasSuffix(" ")
        else {
            throw error(.collapseID, mustBe: what)
        }
        return id
    }

    func topic(_ type: PushType, ofApp appTopic: String) throws(JobError) -> String? {
        let what = "a bundle id: at most 255 letters, digits, dots, hyphens and underscores"
        guard let topic = try text(.topic, mustBe: what) else { return nil }
        guard (1...255).contains(topic.utf8.count), topic.utf8.allSatisfy(Self.isTopicByte),
            !topic.hasPrefix(".")
        else { throw error(.topic, mustBe: what) }
        guard topic.hasSuffix(type.topicSuffix) else {
            throw error(
                .topic,
                "\"topic\" must end in \"\(type.topicSuffix)\" with push_type \"\(type.name)\"; this is "
                    + "\"\(Excerpt.of(topic))\"; leave the field out for \"\(type.topic(ofApp: appTopic))\""
            )
        }
        return topic
    }

    private static func hasControls(_ text: String) -> Bool {
        text.unicodeScalars.contains(where: UTF8Text.isControl)
    }

    private static func isTopicByte(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || ".-_".utf8.contains(byte)
    }
}
