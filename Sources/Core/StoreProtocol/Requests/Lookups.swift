package import RedisProtocol

/// Moves the first taken jobs to the jobs that wait for a look-up of their users, devices or tokens.
package struct QueueLookups: Request {
    /// Whether this call moved the jobs; false if an earlier call did this step.
    package typealias Reply = Bool

    package static var script: Script? { .queueLookups }

    package let words: [any CommandArgument]

    /// - Parameters:
    ///   - step: the number of the last step plus 1.
    ///   - jobs: how many of the taken jobs need a look-up.
    package init(token: FenceToken, step: Int, jobs: Int) {
        words = [ScriptKeys.prefix, token, step, jobs]
    }
}

/// Reads the first jobs that wait for a look-up.
package struct ReadLookups: Request {
    package struct Reply: Equatable, Sendable {
        /// The number of the last step of the look-ups.
        package let step: Int
        /// The number of jobs that this call refused, because they crashed the intake repeatedly.
        package let refused: Int
        /// The exact bytes of each job, in order.
        package let jobs: [[UInt8]]
    }

    package static var script: Script? { .readLookups }

    package let words: [any CommandArgument]

    /// - Parameters:
    ///   - maxBytes: maximum bytes of all jobs in one reply. The first job is returned even if it exceeds this limit.
    ///   - process: the unique name of a process that tries the first job alone, because the job may have crashed an earlier
    ///     process. Nil after this process has survived a try.
    package init(token: FenceToken, maxJobs: Int, maxBytes: Int, triedBy process: String? = nil) {
        words = [ScriptKeys.prefix, token, maxJobs, maxBytes, process, Self.mostTries]
    }

    /// The number of processes that may crash while they try a job. Then the job is refused as poison.
    private static let mostTries = 3

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        let (step, refused) = (try reader.integer(), try reader.integer())
        var jobs: [[UInt8]] = []
        while !reader.isAtEnd { jobs.append(try reader.bytes()) }
        return Reply(step: step, refused: refused, jobs: jobs)
    }
}

/// Removes the first jobs that waited for a look-up. Each job goes back to the inbox with tokens, or is refused.
package struct FinishLookups: Request {
    package enum Job: Equatable, Sendable {
        /// The job's JSON with tokens.
        case found([UInt8])
        /// The id is nil if the job has none. The position is that of the fault in the job, in bytes.
        case refused(id: String?, field: String, position: Int, reason: String)
    }

    /// Whether this call removed the jobs; false if an earlier call did this step.
    package typealias Reply = Bool

    package static var script: Script? { .finishLookups }

    package let words: [any CommandArgument]

    /// - Parameters:
    ///   - step: the number of the last step plus 1.
    ///   - counters: the new values of counters of the budget of background pushes, which expire.
    ///   - events: about pushes that the budget leaves out.
    package init(
        token: FenceToken, step: Int, jobs: [Job], counters: [StoreCampaignStep.StoredString] = [],
        events: [FarmEvent] = []
    ) {
        var words: [any CommandArgument] = [
            ScriptKeys.prefixAndInbox, token, step, counters.count, events.count,
            ArgumentList(
                counters.flatMap { [$0.key, $0.bytes, $0.expiresAt] as [any CommandArgument] }),
            ArgumentList(events),
        ]
        for job in jobs {
            switch job {
            case .found(let json): words += [json, "", "", 0, ""]
            case .refused(let id, let field, let position, let reason):
                words += [[UInt8](), id, field, position, reason]
            }
        }
        self.words = words
    }
}
