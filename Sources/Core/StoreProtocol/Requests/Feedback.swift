package import RedisProtocol

/// Requests that the feedback service is read soon.
package struct AskForFeedback: Request {
    package static var script: Script? { .feedback }

    package init() {}

    package var words: [any CommandWord] { [ScriptKeys.prefix, "ask"] }

    /// The request's time in Unix milliseconds. The request is served when ``ReadFeedback/State/served`` is later.
    package static func read(_ value: RESPValue) throws(StoreError) -> Int64 { try number(value) }
}

/// Checks whether the feedback service must be read now. If so, the caller becomes its only reader.
package struct BeginFeedback: Request {
    package enum Reply: Equatable, Sendable {
        /// The caller must read it. `failures` is the number of readings in a row that failed before.
        case read(failures: Int)
        case wait(Duration)
    }

    package static var script: Script? { .feedback }

    package let words: [any CommandWord]

    /// - Parameters:
    ///   - token: the intake's fencing token.
    ///   - reader: a unique name for each reading.
    ///   - limit: the time after which another reader may start.
    package init(token: FenceToken, reader: String, limit: Duration) {
        words = [ScriptKeys.prefix, "begin", token, reader, limit]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        let (isDue, number) = (try reader.flag(), try reader.integer())
        return isDue ? .read(failures: number) : .wait(.milliseconds(number))
    }
}

/// Ends a reading of the feedback service.
package struct EndFeedback: Request {
    package static var script: Script? { .feedback }
    package typealias Reply = Void

    package let words: [any CommandWord]

    /// - Parameter error: why the reading failed; empty if it succeeded.
    package init(reader: String, tuples: Int, next: Duration, error: String) {
        words = [ScriptKeys.prefix, "end", reader, tuples, next, String(error.prefix(500))]
    }
}

/// Reads the state of reading the feedback service.
package struct ReadFeedback: Request {
    package struct State: Equatable, Sendable {
        /// When the last finished reading began, in Unix milliseconds.
        package var served: Int64 = 0
        package var isReading = false
        /// Times in Unix milliseconds, 0 for never: the last complete reading, the end of the last reading, the next reading.
        package var readAt: Int64 = 0
        package var endedAt: Int64 = 0
        package var due: Int64 = 0
        /// Tuples of the last reading, and tuples of all readings.
        package var tuples = 0
        package var total = 0
        /// The number of readings that failed in a row, and the reason of the last failure.
        package var failures = 0
        package var error = ""
    }

    package init() {}

    package var words: [any CommandWord] { ["HGETALL", AppKey(\.feedback)] }

    /// The state; nil if the feedback service was never read.
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
