import PushModel
package import RedisProtocol

/// Takes jobs from the inbox, and returns taken jobs that the caller does not know.
package struct Take: Request {
    package struct Reply: Equatable, Sendable {
        /// The number of the last step that the intake completed.
        package let step: Int
        /// The first taken job, if a part of it is already split.
        package let head: IntakeHead?
        /// The number of jobs that this call refused because of their size.
        package let refused: Int
        /// How many of the taken jobs are processed one by one, because one of them may have crashed the intake.
        package let suspects: Int
        /// How long the intake leaves further jobs in the inbox, because the app or the farm is full; nil if it may take jobs.
        package let heldBack: Duration?
        /// The exact bytes of each taken job that the caller does not know, in the order in which the jobs were taken.
        package let jobs: [[UInt8]]
    }

    package static var script: Script? { .take }

    package let words: [any CommandArgument]

    /// - Parameters:
    ///   - known: how many of the taken jobs the caller knows.
    ///   - maxBytes: maximum bytes of all jobs in one reply. The first job is returned even if it exceeds this limit.
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

/// The progress of a job that the intake splits in several steps.
package struct IntakeHead: Equatable, Sendable {
    package var job: String
    /// The number of accepted pushes that are already in batches.
    package var offset: Int

    package init(job: String, offset: Int) { (self.job, self.offset) = (job, offset) }
}

/// Removes the first taken job. A job that did not parse or validate is refused, and its original bytes are kept. A duplicate's
/// original bytes are not kept.
///
/// If the job was split in part, its batches stay, and its remaining pushes fail with the reason `lost`.
package struct Refuse: Request {
    package enum Reply: Equatable, Sendable {
        /// The job was counted, and producers get an event.
        case eventWritten
        /// The job was counted without an event of its own, because too many jobs were refused in this minute.
        case counted
        /// An earlier call did this step.
        case doneBefore
    }

    package static var script: Script? { .refuse }
    /// Maximum number of original bytes that are kept.
    package static let originalLimit = 65_536

    package let words: [any CommandArgument]

    /// - Parameters:
    ///   - step: the number of the last step plus 1.
    ///   - job: the job's id, if it could be read.
    ///   - position: the position of the fault in the job, in bytes.
    ///   - isDuplicate: whether a job with the same id is open or younger than 24 hours.
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

/// Counts an exit of the intake process against the taken jobs that it was processing.
///
/// The first exit counts against every taken job, and from then on, the intake processes these jobs one by one. A later exit
/// counts only if the intake was processing a single one of these jobs. When `limit` exits count against a job, the job is
/// refused.
package struct RecordIntakeCrash: Request {
    package struct Reply: Equatable, Sendable {
        /// The number of taken jobs that are processed one by one from now on.
        package let suspects: Int
        /// How many exits count against the first of these jobs; 0 as long as another job may have caused the exits.
        package let ends: Int
        /// Whether the first job was refused because of this exit.
        package let isRefused: Bool
    }

    package static var script: Script? { .intakeCrash }

    package let words: [any CommandArgument]

    /// - Parameters:
    ///   - process: the unique name of the process that exited.
    ///   - isOnlyApp: whether the process was working for this app only.
    ///   - limit: the number of exits after which a job is refused.
    package init(
        token: FenceToken, process: String, isOnlyApp: Bool, limit: Int = 3,
        retention: Retention = Retention()
    ) {
        words = [ScriptKeys.prefix, token, process, isOnlyApp, limit, retention.jobRecordSeconds]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        return Reply(
            suspects: try reader.integer(), ends: try reader.integer(), isRefused: try reader.flag())
    }
}

/// Waits for the next job and moves it from the inbox to the end of `taken`. The command needs a separate connection, because it
/// blocks.
///
/// This command needs no fence: if the caller is no longer the intake, or the reply is lost, the next ``Take`` returns the moved
/// job. In both cases, two callers may have the job. So the caller must split the job with ``Split/alone``: such a step fails
/// unless the job is the only taken job.
package struct NextJob: Request {
    /// How long to wait for a job; zero does not wait.
    package var timeout: Duration

    package init(timeout: Duration) { self.timeout = timeout }

    package var blocking: Duration { timeout }

    package var words: [any CommandArgument] {
        let move: [any CommandArgument] = [AppKey(\.inbox), AppKey(\.taken), "LEFT", "RIGHT"]
        guard timeout > .zero else { return ["LMOVE", ArgumentList(move)] }
        return ["BLMOVE", ArgumentList(move), BlockingTime(timeout)]
    }

    /// The job's exact bytes; nil if no job came within the timeout.
    package static func read(_ value: RESPValue) throws(StoreError) -> [UInt8]? {
        if value.isNull { return nil }
        guard let job = value.bytes else { throw .unexpectedReply("\(Self.self)") }
        return job
    }
}

/// Adds a job to the inbox. If the reply is lost, the caller must not simply repeat the call: Redis may have executed it, and a
/// job without an id would be accepted twice.
package struct PushJob: Request {
    /// The number of jobs in the inbox.
    package typealias Reply = Int

    package let words: [any CommandArgument]

    package init(job: [UInt8]) {
        words = ["RPUSH", AppKey(\.inbox), job]
    }
}

/// Adds a job to the inbox if there is room. Like producers, this request calls a function of ``FunctionLibrary``.
///
/// If the job has an id, the caller may repeat a call whose reply was lost, because the second job is refused as a duplicate.
package struct SubmitJob: Request {
    package enum Reply: Equatable, Sendable {
        /// The job was added; `waiting` is the number of jobs in the inbox.
        case accepted(waiting: Int)
        case busy(retryAfter: Duration, reason: String)
        /// A job with this id is open or younger than a day.
        case duplicate
        /// The job breaks a rule, such as the maximum size, and would always be refused.
        case refused(reason: String)
    }

    package let job: [UInt8]
    package let id: String

    package init(job: [UInt8], id: String) { (self.job, self.id) = (job, id) }

    package var words: [any CommandArgument] {
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
