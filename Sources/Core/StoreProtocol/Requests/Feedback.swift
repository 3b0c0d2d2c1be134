package import RedisProtocol

/// Wishes that the feedback service is read soon.
package struct AskForFeedback: Request {
    package static var script: Script? { .feedback }

    package init() {}

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys)
        command.append("ask")
    }

    /// The moment of the wish, in Unix milliseconds: ``ReadFeedback/State/served`` is later then.
    package static func read(_ value: RESPValue) throws(StoreError) -> Int64 {
        guard let moment = value.integer else { throw .unexpectedReply("feedback") }
        return moment
    }
}

/// Asks whether the feedback service is to be read now, and makes the caller its one reader if it is.
package struct BeginFeedback: Request {
    package enum Reply: Equatable, Sendable {
        /// Read it. So many readings before have failed in a row.
        case read(failures: Int)
        case wait(Duration)
    }

    package static var script: Script? { .feedback }

    /// Of the intake.
    package var token: FenceToken
    /// Unique for each reading.
    package var reader: String
    /// After so long another reader may begin.
    package var limit: Duration

    package init(token: FenceToken, reader: String, limit: Duration) {
        (self.token, self.reader, self.limit) = (token, reader, limit)
    }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys)
        command.append("begin")
        command.append(token.bytes)
        command.append(reader)
        command.append(limit.wholeMilliseconds)
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, "feedback")
        let (isDue, number) = (try reader.integer() == 1, try reader.integer())
        return isDue ? .read(failures: number) : .wait(.milliseconds(number))
    }
}

/// A reading is over.
package struct EndFeedback: Request {
    package static var script: Script? { .feedback }

    package var reader: String
    package var tuples: Int
    package var next: Duration
    /// Why it failed; empty if it did not.
    package var error: String

    package init(reader: String, tuples: Int, next: Duration, error: String) {
        (self.reader, self.tuples, self.next, self.error) = (reader, tuples, next, error)
    }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys)
        command.append("end")
        command.append(reader)
        command.append(tuples)
        command.append(next.wholeMilliseconds)
        command.append(String(error.prefix(500)))
    }

    package static func read(_ value: RESPValue) throws(StoreError) {
        guard value.integer != nil else { throw .unexpectedReply("feedback") }
    }
}

/// How the reading of the feedback service goes.
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

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("HGETALL")
        command.append(keys.feedback)
    }

    /// Nil: it was never read.
    package static func read(_ value: RESPValue) throws(StoreError) -> State? {
        guard value.array != nil else { throw .unexpectedReply("feedback") }
        let fields = value.fields
        guard !fields.isEmpty else { return nil }
        func number(_ field: String) -> Int64 { fields[field].flatMap { Int64(foreign: $0) } ?? 0 }
        return State(
            served: number("served"), isReading: fields["reader"] != nil, readAt: number("read_at"),
            endedAt: number("ended_at"), due: number("due"), tuples: Int(number("tuples")),
            total: Int(number("total")), failures: Int(number("failures")), error: fields["error"] ?? "")
    }
}
