import PushModel
package import RedisProtocol

/// Takes jobs from the inbox, or returns those that were taken before and are not known.
package struct Take: Request {
    package struct Reply: Equatable, Sendable {
        /// The last step of the intake that was done.
        package let step: Int
        /// The first taken job, when a part of it is split already.
        package let head: IntakeHead?
        /// Jobs that were refused here because of their size.
        package let refused: Int
        /// So many jobs go one by one: one of them may have ended the process that held them.
        package let suspects: Int
        /// The inbox has more, which stays there until so much time has passed: the app or the farm is full.
        package let heldBack: Duration?
        /// The jobs' exact bytes, in order, behind the known ones.
        package let jobs: [[UInt8]]
    }

    package static var script: Script? { .take }

    package let words: [any CommandWord]

    /// - Parameters:
    ///   - known: how many of the taken jobs the caller holds.
    ///   - maxBytes: of the jobs of one reply together; one job may go beyond.
    package init(token: FenceToken, known: Int, maxJobs: Int, maxBytes: Int, maxJobBytes: Int) {
        words = [ScriptKeys.prefixAndInbox, token, known, maxJobs, maxBytes, maxJobBytes]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        let step = try reader.integer()
        let job = try reader.text()
        let offset = try reader.integer()
        let refused = try reader.integer()
        let suspects = try reader.integer()
        let pause = try reader.integer()
        var jobs: [[UInt8]] = []
        while !reader.isAtEnd { jobs.append(try reader.bytes()) }
        return Reply(
            step: step, head: job.isEmpty ? nil : IntakeHead(job: job, offset: offset), refused: refused,
            suspects: suspects, heldBack: pause > 0 ? .milliseconds(pause) : nil, jobs: jobs)
    }
}

/// How far a job that is split in chunks is split.
package struct IntakeHead: Equatable, Sendable {
    package var job: String
    /// Accepted pushes that are in batches already.
    package var offset: Int

    package init(job: String, offset: Int) { (self.job, self.offset) = (job, offset) }
}

/// Drops the first taken job, which did not parse or validate, and keeps its original for inspection; or a duplicate, whose
/// original is not kept.
///
/// Batches of a job that is split in part stay; its other pushes fail as `lost`.
package struct Refuse: Request {
    package enum Reply: Equatable, Sendable {
        /// It is counted, and producers get an event.
        case eventWritten
        /// It is counted. There are too many for an event each.
        case counted
        /// This step was done before.
        case doneBefore
    }

    package static var script: Script? { .refuse }
    /// Longer originals are cut.
    package static let originalLimit = 65_536

    package let words: [any CommandWord]

    /// - Parameters:
    ///   - step: the last step + 1.
    ///   - job: its id, if it was readable.
    ///   - position: in bytes.
    ///   - isDuplicate: a job of its id is open, or younger than 24 hours.
    package init(
        token: FenceToken, step: Int, job: String?, field: String, position: Int, reason: String,
        original: [UInt8], isDuplicate: Bool = false, retention: Retention = Retention()
    ) {
        let kept = isDuplicate ? [] : Array(original.prefix(Self.originalLimit))
        words = [
            ScriptKeys.prefix, token, step, job, field, position, reason, kept, FarmReason.lost.rawValue,
            retention.jobRecordSeconds, isDuplicate ? "duplicate" : "refused",
        ]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        switch value.integer {
        case 0: .doneBefore
        case 1: .eventWritten
        case 2: .counted
        default: throw .unexpectedReply("\(Self.self)")
        }
    }
}

/// Counts the end of an intake process against the taken jobs that it was working on.
///
/// A job that causes `limit` ends, all but the first of them alone, is refused.
package struct RecordIntakeCrash: Request {
    package struct Reply: Equatable, Sendable {
        /// Taken jobs that are processed one by one from now on.
        package let suspects: Int
        /// Ends that count against the first of them; 0 while it may be another's doing.
        package let ends: Int
        /// The first job was refused with this end.
        package let isRefused: Bool
    }

    package static var script: Script? { .intakeCrash }

    package let words: [any CommandWord]

    /// - Parameters:
    ///   - process: the process that ended, by a unique name.
    ///   - isAlone: whether the process was working for this app only.
    ///   - limit: ends of a process that are one job's doing.
    package init(
        token: FenceToken, process: String, isAlone: Bool, limit: Int = 3, retention: Retention = Retention()
    ) {
        words = [ScriptKeys.prefix, token, process, isAlone, limit, retention.jobRecordSeconds]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        return Reply(
            suspects: try reader.integer(), ends: try reader.integer(), isRefused: try reader.flag())
    }
}

/// Waits for the next job, and moves it from the inbox to the end of `taken`. Only on a connection of its own.
///
/// There is no fence here, and none is needed: a job that was moved for a process that is not the intake, or whose reply is
/// lost, is taken by the next ``Take``. So the caller may only go on with a ``Split`` of that job alone.
package struct NextJob: Request {
    /// Zero: it does not wait.
    package var timeout: Duration

    package init(timeout: Duration) { self.timeout = timeout }

    package var blocking: Duration { timeout }

    package var words: [any CommandWord] {
        let move: [any CommandWord] = [AppKey(\.inbox), AppKey(\.taken), "LEFT", "RIGHT"]
        guard timeout > .zero else { return ["LMOVE", WordList(move)] }
        // Seconds; 0 would wait for ever.
        let milliseconds = max(1, timeout.wholeMilliseconds)
        let fraction = String(milliseconds % 1000 + 1000).dropFirst()
        return ["BLMOVE", WordList(move), "\(milliseconds / 1000).\(fraction)"]
    }

    /// The job's exact bytes; nil when the time has passed without one.
    package static func read(_ value: RESPValue) throws(StoreError) -> [UInt8]? {
        if value.isNull { return nil }
        guard let job = value.bytes else { throw .unexpectedReply("\(Self.self)") }
        return job
    }
}

/// Puts a job into the inbox. Not to be repeated blindly: a job without an id would come twice.
package struct PushJob: Request {
    /// Jobs in the inbox.
    package typealias Reply = Int

    package let words: [any CommandWord]

    package init(job: [UInt8]) {
        words = ["RPUSH", AppKey(\.inbox), job]
    }
}

/// Puts a job into the inbox if there is room, as producers do: through the function of ``FunctionLibrary``.
///
/// With an id it may be repeated when its reply was lost: the second job is a duplicate of the first.
package struct SubmitJob: Request {
    package enum Reply: Equatable, Sendable {
        /// Jobs in the inbox.
        case accepted(waiting: Int)
        case busy(retryAfter: Duration, reason: String)
        /// A job of this id is open or younger than a day.
        case duplicate
        /// It is too large, and always will be.
        case refused(reason: String)
    }

    package let job: [UInt8]
    package let id: String

    package init(job: [UInt8], id: String) { (self.job, self.id) = (job, id) }

    package var words: [any CommandWord] {
        ["FCALL", FunctionLibrary.submit, 1, AppKey(\.inbox), job, id]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        let (status, number, text) = (try reader.text(), try reader.integer(), try reader.text())
        return switch status {
        case "OK": .accepted(waiting: number)
        case "BUSY": .busy(retryAfter: .milliseconds(number), reason: text)
        case "DUPLICATE": .duplicate
        case "REFUSED": .refused(reason: text)
        default: throw .unexpectedReply("\(Self.self), \(status)")
        }
    }
}
