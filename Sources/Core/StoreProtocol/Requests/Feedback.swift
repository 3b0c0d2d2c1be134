package import RedisProtocol

/// Asks the farm to read the feedback service soon.
package struct AskForFeedback: Request {
    package static var script: Script? { .feedback }

    package init() {}

    package var words: [any CommandArgument] { [ScriptKeys.prefix, "ask"] }

    /// Returns the request's time in Unix milliseconds. A reading for this request has ended as soon as
    /// ``ReadFeedbackStatus/State/served`` is later than this time.
    package static func read(_ value: RESPValue) throws(StoreError) -> Int64 { try number(value) }
}

/// Checks whether the feedback service must be read now. If the reply is `read`, no other reading can begin until the caller
/// sends ``EndFeedback`` or the time limit ends.
package struct BeginFeedback: Request {
    package enum Reply: Equatable, Sendable {
        /// The caller must read the feedback service. `failures` is the number of failed readings in a row before this reading.
        case read(failures: Int)
        case wait(Duration)
    }

    package static var script: Script? { .feedback }

    package let words: [any CommandArgument]

    /// - Parameters:
    ///   - token: the intake's fencing token.
    ///   - reader: a name that no other reading uses.
    ///   - limit: the time after which another caller may start a reading although this reading has not ended.
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

    package let words: [any CommandArgument]

    /// - Parameter error: why the reading failed; empty if it succeeded.
    package init(reader: String, tuples: Int, next: Duration, error: String) {
        words = [ScriptKeys.prefix, "end", reader, tuples, next, String(error.prefix(500))]
    }
}

/// Reads the times and the results of past readings of the feedback service.
package struct ReadFeedbackStatus: Request {
    package struct State: Equatable, Sendable {
        /// When the last finished reading began, in Unix milliseconds.
        package var servedUntil: Int64 = 0
        package var isReading = false
        /// When the last complete reading ended, in Unix milliseconds; 0 if there was none.
        package var readAt: Int64 = 0
        /// When the next reading is due, in Unix milliseconds; 0 if none is planned.
        package var due: Int64 = 0
        /// The number of tuples in the last reading.
        package var tuples = 0
        /// The number of tuples in all readings.
        package var total = 0
        /// How many readings have failed since the last reading that succeeded.
        package var failures = 0
        /// The reason of the last failure.
        package var error = ""
    }

    package init() {}

    package var words: [any CommandArgument] { ["HGETALL", AppKey(\.feedback)] }

    /// The state; nil if the feedback service was never read.
    package static func read(_ value: RESPValue) throws(StoreError) -> State? {
        guard value.array != nil else { throw .unexpectedReply("\(Self.self)") }
        let fields = ReplyFields(pairs: value)
        if fields.isEmpty { return nil }
        return State(
            servedUntil: fields.moment("served"), isReading: fields.text("reader") != nil,
            readAt: fields.moment("read_at"), due: fields.moment("due"),
            tuples: fields.number("tuples"), total: fields.number("total"),
            failures: fields.number("failures"), error: fields.text("error") ?? "")
    }
}
