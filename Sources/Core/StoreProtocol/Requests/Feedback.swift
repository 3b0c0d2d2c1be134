package import RedisProtocol

/// Asks for a reading of the feedback service soon.
package struct AskForFeedback: Request {
    package static var script: Script? { .feedback }

    package init() {}

    package var words: [any CommandWord] { [ScriptKeys.prefix, "ask"] }

    /// The time of the request, in Unix milliseconds: ``ReadFeedback/State/served`` is later then.
    package static func read(_ value: RESPValue) throws(StoreError) -> Int64 { try number(value) }
}

/// Asks whether the feedback service is to be read now, and makes the caller its one reader if it is.
package struct BeginFeedback: Request {
    package enum Reply: Equatable, Sendable {
        /// Read it. So many readings before have failed in a row.
        case read(failures: Int)
        case wait(Duration)
    }

    package static var script: Script? { .feedback }

    package let words: [any CommandWord]

    /// - Parameters:
    ///   - token: of the intake.
    ///   - reader: unique for each reading.
    ///   - limit: after so long another reader may begin.
    package init(token: FenceToken, reader: String, limit: Duration) {
        words = [ScriptKeys.prefix, "begin", token, reader, limit]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        let (isDue, number) = (try reader.flag(), try reader.integer())
        return isDue ? .read(failures: number) : .wait(.milliseconds(number))
    }
}

/// Ends a reading.
package struct EndFeedback: Request {
    package static var script: Script? { .feedback }
    package typealias Reply = Void

    package let words: [any CommandWord]

    /// - Parameter error: why it failed; empty if it did not.
    package init(reader: String, tuples: Int, next: Duration, error: String) {
        words = [ScriptKeys.prefix, "end", reader, tuples, next, String(error.prefix(500))]
    }
}

/// Reads the state of the feedback readings.
package struct ReadFeedback: Request {
    package struct State: Equatable, Sendable {
        /// When the last reading began that has ended, in Unix milliseconds.
        package var served: Int64 = 0
        package var isReading = false
        /// Unix milliseconds when it was last read to its end, when a reading last ended, and when the next one is due; 0: never.
        package var readAt: Int64 = 0
        package var endedAt: Int64 = 0
        package var due: Int64 = 0
        /// Of the last reading, and of all.
        package var tuples = 0
        package var total = 0
        /// Readings in a row that failed, and why the last one did.
        package var failures = 0
        package var error = ""
    }

    package init() {}

    package var words: [any CommandWord] { ["HGETALL", AppKey(\.feedback)] }

    /// Nil: it was never read.
    package static func read(_ value: RESPValue) throws(StoreError) -> State? {
        guard value.array != nil else { throw .unexpectedReply("\(Self.self)") }
        let fields = ReplyFields(pairs: value)
        if fields.isEmpty { return nil }
        return State(
            served: fields.moment("served"), isReading: fields.text("reader") != nil,
            readAt: fields.moment("read_at"), endedAt: fields.moment("ended_at"), due: fields.moment("due"),
            tuples: fields.number("tuples"), total: fields.number("total"),
            failures: fields.number("failures"), error: fields.text("error") ?? "")
    }
}
