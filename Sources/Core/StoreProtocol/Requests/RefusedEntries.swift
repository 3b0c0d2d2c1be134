package import RedisProtocol

/// A refused job or device input that is kept for inspection.
package struct RefusedEntry: Equatable, Sendable {
    package let id: EntryID
    /// The id of the job or device; empty if no id could be read.
    package let subject: String
    package let field: String
    /// The position of the fault in the job or input, in bytes.
    package let position: Int
    package let reason: String
    /// The job or input as the producer sent it, cut at ``Refuse/originalLimit``.
    package let original: [UInt8]
    /// The number of refused jobs or inputs that this entry represents. If very many are refused, Redis keeps entries of only some
    /// of them.
    package let count: Int

    package init(
        id: EntryID, subject: String, field: String, position: Int, reason: String, original: [UInt8],
        count: Int = 1
    ) {
        (self.id, self.subject, self.field, self.position) = (id, subject, field, position)
        (self.reason, self.original, self.count) = (reason, original, count)
    }

    /// Whether the original may be longer than the part that is kept.
    package var mayBeCut: Bool { original.count >= Refuse.originalLimit }
}

/// Reads refused jobs or refused device inputs.
package struct ReadRefused: Request {
    package enum Stream: Sendable {
        case jobs, devices
    }

    package let words: [any CommandArgument]

    package init(_ range: StreamRange, of stream: Stream = .jobs, count: Int = 64) {
        words =
            switch stream {
            case .jobs: range.words(AppKey(\.refused), count: count)
            case .devices: range.words(AppKey(\.refusedDevices), count: count)
            }
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> [RefusedEntry] {
        try ReplyReader.entries(value, Self.self).map { id, words in
            let fields = ReplyFields(pairs: words)
            return RefusedEntry(
                id: id, subject: fields.text("job") ?? fields.text("device") ?? "",
                field: fields.text("field") ?? "", position: fields.number("position"),
                reason: fields.text("reason") ?? "", original: fields.bytes("original") ?? [],
                count: max(1, fields.number("jobs"), fields.number("inputs")))
        }
    }
}

/// Counts the refused jobs and the duplicates of an app, including jobs without an event.
package struct ReadRefusals: Request {
    package struct Reply: Equatable, Sendable {
        /// Refused jobs since the app was set up.
        package var refused = 0
        package var duplicates = 0
        /// Refused jobs in the minute that began at ``since``.
        package var minute = 0
        /// Refused jobs in the minute that ended at ``since``.
        package var before = 0
        /// When the minute of the last refused job or duplicate began, in Unix milliseconds of Redis's clock.
        package var since: Int64 = 0

        package init() {}

        /// Estimates the number of refused jobs in the 60 seconds before `now`, from the counts of the last two minutes.
        package func lastMinute(at now: Int64) -> Int {
            let minute: Int64 = 60_000
            let (age, isAhead) = now.subtractingReportingOverflow(since)
            guard !isAhead, age >= 0, age < 2 * minute else { return 0 }
            let (full, partial) = age < minute ? (self.minute, before) : (0, self.minute)
            let share = Double(minute - age % minute) / Double(minute)
            let rest = Int(clamping: (Double(partial) * share).rounded())
            return full.addingReportingOverflow(rest).partialValue
        }
    }

    private static let fields = ["refused", "duplicates", "minute", "before", "since"]

    package init() {}

    package var words: [any CommandArgument] { ["HMGET", AppKey(\.refusals), ArgumentList(Self.fields)] }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        let fields = try ReplyFields(value, fields, Self.self)
        var reply = Reply()
        reply.refused = max(0, fields.number("refused"))
        reply.duplicates = max(0, fields.number("duplicates"))
        reply.minute = max(0, fields.number("minute"))
        reply.before = max(0, fields.number("before"))
        reply.since = fields.moment("since")
        return reply
    }
}
