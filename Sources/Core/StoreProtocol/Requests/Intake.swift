import PushModel
package import RedisProtocol

/// Takes jobs from the inbox, or answers those that were taken before and are not known.
package struct Take: Request {
    package struct Reply: Equatable, Sendable {
        /// The last step of the intake that was done.
        package let step: Int
        /// The first taken job, when a part of it is split already.
        package let head: IntakeHead?
        /// Jobs that were refused here because of their size.
        package let refused: Int
        /// So many jobs go one by one: one of them may have ended the process that held them.
        package let careful: Int
        /// More is in the inbox and stays there until so much time has passed, for the app or the farm is full.
        package let heldBack: Duration?
        /// The jobs' exact bytes, in order, behind the known ones.
        package let jobs: [[UInt8]]
    }

    package static var script: Script? { .take }

    package var token: FenceToken
    /// How many of the taken jobs the caller holds.
    package var known: Int
    package var maxJobs: Int
    /// Of the jobs of one reply together; one job may go beyond.
    package var maxBytes: Int
    package var maxJobBytes: Int

    package init(token: FenceToken, known: Int, maxJobs: Int, maxBytes: Int, maxJobBytes: Int) {
        (self.token, self.known) = (token, known)
        (self.maxJobs, self.maxBytes, self.maxJobBytes) = (maxJobs, maxBytes, maxJobBytes)
    }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys, inbox: ())
        command.append(token.bytes)
        command.append(known)
        command.append(maxJobs)
        command.append(maxBytes)
        command.append(maxJobBytes)
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, "take")
        let step = try reader.integer()
        let job = try reader.text()
        let offset = try reader.integer()
        let refused = try reader.integer()
        let careful = try reader.integer()
        let pause = try reader.integer()
        var jobs: [[UInt8]] = []
        while !reader.isAtEnd { jobs.append(try reader.bytes()) }
        let head = job.isEmpty ? nil : IntakeHead(job: job, offset: offset)
        return Reply(
            step: step, head: head, refused: refused, careful: careful,
            heldBack: pause > 0 ? .milliseconds(pause) : nil, jobs: jobs)
    }
}

/// How far a job that goes in chunks is split.
package struct IntakeHead: Equatable, Sendable {
    package var job: String
    /// Accepted pushes that are in batches already.
    package var offset: Int

    package init(job: String, offset: Int) { (self.job, self.offset) = (job, offset) }
}

/// Drops the first taken job, which did not parse or validate, and keeps its original for inspection; or a duplicate, whose
/// original is not kept.
///
/// What is in batches of a job that is split in part stays; its other pushes fail as `lost`.
package struct Refuse: Request {
    package enum Reply: Equatable, Sendable {
        /// It is counted, and producers are told of it.
        case told
        /// It is counted. There are too many of them to tell of each.
        case counted
        /// This step was done before.
        case doneBefore
    }

    package static var script: Script? { .refuse }
    /// Longer originals are cut.
    package static let originalLimit = 65_536

    package var token: FenceToken
    /// The last step + 1.
    package var step: Int
    /// If it was readable.
    package var job: String?
    package var field: String
    /// In bytes.
    package var position: Int
    package var reason: String
    package var original: [UInt8]
    /// A job of its id is open, or younger than 24 hours.
    package var isDuplicate: Bool
    package var retention: Retention

    package init(
        token: FenceToken, step: Int, job: String?, field: String, position: Int, reason: String,
        original: [UInt8], isDuplicate: Bool = false, retention: Retention = Retention()
    ) {
        (self.token, self.step, self.job, self.field) = (token, step, job, field)
        (self.position, self.reason, self.original) = (position, reason, original)
        (self.isDuplicate, self.retention) = (isDuplicate, retention)
    }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys)
        command.append(token.bytes)
        command.append(step)
        command.append(job ?? "")
        command.append(field)
        command.append(position)
        command.append(reason)
        command.append(isDuplicate ? [] : original.prefix(Self.originalLimit))
        command.append(FarmReason.lost.rawValue)
        command.append(retention.jobRecordSeconds)
        command.append(isDuplicate ? "duplicate" : "refused")
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        switch value.integer {
        case 0: .doneBefore
        case 1: .told
        case 2: .counted
        default: throw .unexpectedReply("refuse")
        }
    }
}
