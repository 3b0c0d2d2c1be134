package import RedisProtocol

/// A refused job that is kept for inspection.
package struct RefusedJob: Equatable, Sendable {
    package let id: EntryID
    /// The job's id; empty if no id could be read.
    package let job: String
    package let field: String
    /// The position of the fault in the job, in bytes.
    package let position: Int
    package let reason: String
    /// The job as the producer sent it, cut at ``Refuse/originalLimit``.
    package let original: [UInt8]
    /// The number of refused jobs that this record represents. If very many jobs are refused, Redis keeps records of only some of
    /// them.
    package var jobs = 1

    /// Whether the original may be longer than the part that is kept.
    package var mayBeCut: Bool { original.count >= Refuse.originalLimit }
}

/// Reads refused jobs.
package struct ReadRefused: Request {
    package let words: [any CommandArgument]

    package init(_ range: StreamRange, count: Int = 64) {
        words = range.words(AppKey(\.refused), count: count)
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> [RefusedJob] {
        try ReplyReader.entries(value, Self.self).map { id, words in
            let fields = ReplyFields(pairs: words)
            return RefusedJob(
                id: id, job: fields.text("job") ?? "", field: fields.text("field") ?? "",
                position: fields.number("position"), reason: fields.text("reason") ?? "",
                original: fields.bytes("original") ?? [], jobs: max(1, fields.number("jobs")))
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

/// A refused device input that is kept for inspection.
package struct RefusedDevice: Equatable, Sendable {
    package let id: EntryID
    /// The device's id; empty if no id could be read.
    package let device: String
    package let field: String
    /// The position of the fault in the input, in bytes.
    package let position: Int
    package let reason: String
    /// The input as the producer sent it, cut at ``Refuse/originalLimit``.
    package let original: [UInt8]
    /// The number of refused inputs that this record represents.
    package let inputs: Int
}

/// Reads refused device inputs.
package struct ReadRefusedDevices: Request {
    package let words: [any CommandArgument]

    package init(_ range: StreamRange, count: Int = 64) {
        words = range.words(AppKey(\.refusedDevices), count: count)
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> [RefusedDevice] {
        try ReplyReader.entries(value, Self.self).map { id, words in
            let fields = ReplyFields(pairs: words)
            return RefusedDevice(
                id: id, device: fields.text("device") ?? "", field: fields.text("field") ?? "",
                position: fields.number("position"), reason: fields.text("reason") ?? "",
                original: fields.bytes("original") ?? [], inputs: max(1, fields.number("inputs")))
        }
    }
}
