package import RedisProtocol

/// Makes one change that an operator requests: pauses or quarantines a job or a shard, pauses a token, resumes a shard, or
/// cancels a job.
package struct ChangePauses: Request {
    package enum Kind: String, Sendable {
        case pause, quarantine
    }

    package enum Change: Equatable, Sendable {
        case job(String, Kind)
        /// Cancels the job's unsent pushes from the time `from` on, in Unix milliseconds; 0 means now. If the cancel finishes the
        /// job, Redis keeps the job's record for `keep` seconds.
        case cancel(String, from: Int64, keep: Int)
        /// Pauses a token. The values are the token's raw bytes and the number of the token's shard.
        case token([UInt8], shard: Int)
        case shard(Int, Kind)
        /// Resumes the shard.
        case resumeShard(Int)
    }

    /// The state of a job in Redis.
    package enum JobState: String, Sendable {
        case open, finished
        /// The job has no record, but it may be one of the jobs in the inbox.
        case expected
        case unknown
        /// The maximum number of pauses is reached.
        case full
        /// The change does not concern a job.
        case none = ""
    }

    package struct Reply: Equatable, Sendable {
        package let hasChanged: Bool
        package let jobState: JobState
        /// The note of the pause that existed before this change; empty if there was no such pause.
        package let before: String

        package init(hasChanged: Bool, jobState: JobState, before: String) {
            (self.hasChanged, self.jobState, self.before) = (hasChanged, jobState, before)
        }
    }

    package static var script: Script? { .pause }

    package let words: [any CommandArgument]

    package init(_ what: Change, by: String, reason: String = "") {
        words = [ScriptKeys.prefixAndInbox, ArgumentList(what.words), by, reason]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        let hasChanged = try reader.flag()
        guard let jobState = JobState(rawValue: try reader.text()) else {
            throw .unexpectedReply("\(Self.self)")
        }
        return Reply(hasChanged: hasChanged, jobState: jobState, before: try reader.text())
    }
}

extension ChangePauses.Change {
    fileprivate var words: [any CommandArgument] {
        switch self {
        case .job(let id, let kind): ["job", id, kind.rawValue]
        case .cancel(let id, let from, let keep): ["cancel", id, from, keep]
        case .token(let token, let shard): ["token", token, LeaseID.shard(shard)]
        case .shard(let number, let kind): ["shard", LeaseID.shard(number), kind.rawValue]
        case .resumeShard(let number): ["resume_shard", LeaseID.shard(number)]
        }
    }
}

/// Resumes paused batches, and quarantined jobs and tokens. Each call handles a limited number of batches.
package struct ResumePaused: Request {
    package struct Reply: Equatable, Sendable {
        /// Batches that were put back into their ready lists.
        package let batches: Int
        /// The `start` of the next call; nil if all batches are examined.
        package let next: Int?
        /// Jobs that this call resumed.
        package let jobs: Int
        /// Tokens that this call resumed.
        package var tokens = 0
    }

    package enum Selection: Equatable, Sendable {
        /// All paused batches and tokens, and all quarantined jobs. Jobs that an operator paused stay paused.
        case all
        case job(String)
        /// A job that an operator paused.
        case pausedJob(String)
        /// A token, as raw bytes.
        case token([UInt8])
    }

    package static var script: Script? { .resume }

    package let words: [any CommandArgument]

    /// - Parameter start: how many batches earlier calls examined and left paused. This call skips so many batches at the end of
    ///   the list.
    package init(_ what: Selection = .all, start: Int = 0, limit: Int = 100) {
        let subject: [any CommandArgument] =
            switch what {
            case .all: ["", "all"]
            case .job(let id): [id, "job"]
            case .pausedJob(let id): [id, "paused"]
            case .token(let token): [token, "token"]
            }
        words = [ScriptKeys.prefix, limit, start, ArgumentList(subject)]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        let (batches, next) = (try reader.integer(), try reader.integer())
        return Reply(
            batches: batches, next: next < 0 ? nil : next, jobs: try reader.integer(),
            tokens: try reader.integer())
    }
}

/// Cancels pushes of cancelled jobs in batches that no worker has checked out. A call ends after about 3 ms, even if it has not
/// examined all batches.
package struct CancelBatches: Request {
    package struct Reply: Equatable, Sendable {
        /// How many of the given batches the call examined. It examines them in the given order.
        package let examined: Int
        /// Number of pushes that were cancelled.
        package let cancelled: Int
        /// Number of batches that were deleted because none of their pushes is open any more.
        package let gone: Int
    }

    package static var script: Script? { .cancelBatches }

    package let words: [any CommandArgument]

    package init(_ batches: [String]) {
        words = [ScriptKeys.prefix, ArgumentList(batches)]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        return Reply(
            examined: try reader.integer(), cancelled: try reader.integer(), gone: try reader.integer())
    }
}

/// Makes the delayed batches of a job due now. Each call handles a limited number of batches.
package struct PromoteJob: Request {
    package struct Reply: Equatable, Sendable {
        package let batches: Int
        package let pushes: Int
        /// The `start` of the next call; nil if all delayed batches are examined.
        package let next: Int?
    }

    package static var script: Script? { .promoteJob }

    package let words: [any CommandArgument]

    package init(job: String, start: Int = 0, limit: Int = 128) {
        words = [ScriptKeys.prefix, job, start, limit]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        let (batches, pushes, next) = (try reader.integer(), try reader.integer(), try reader.integer())
        return Reply(batches: batches, pushes: pushes, next: next < 0 ? nil : next)
    }
}

/// Reads which jobs, tokens or shards of an app are paused, quarantined or cancelled.
package struct ReadPauses: Request {
    package enum Kind: Sendable, CaseIterable {
        case jobs, tokens, shards, cancels
    }

    package struct Item: Equatable, Sendable {
        /// A job's id, a raw token, or a shard's number.
        package let name: [UInt8]
        /// When the pause began, in Unix milliseconds of Redis's clock.
        package let since: Int64
        /// `pause`, `quarantine` or `cancel`; `poison` if the job or token crashed workers.
        package var kind: String
        /// The operator who requested the pause; `stop_at` if too many pushes of a campaign failed; empty if workers crashed.
        package var by = ""
        package var reason = ""
        /// If the job is cancelled: from which time on its unsent pushes are cancelled, in Unix milliseconds.
        package var from: Int64 = 0
        /// The shard of a token.
        package var shard: Int?

        package init(
            name: [UInt8], since: Int64, kind: String, by: String = "", reason: String = "", from: Int64 = 0
        ) {
            (self.name, self.since, self.kind) = (name, since, kind)
            (self.by, self.reason, self.from) = (by, reason, from)
        }

        package var text: String { String(decoding: name, as: UTF8.self) }

        /// Whether the farm paused a campaign because too many of its pushes failed.
        package var isStoppedCampaign: Bool { kind == "pause" && by == "stop_at" }
    }

    package var kind: Kind

    package init(_ kind: Kind) { self.kind = kind }

    package var words: [any CommandArgument] {
        let key =
            switch kind {
            case .jobs: AppKey(\.pausedJobs)
            case .tokens: AppKey(\.pausedTokens)
            case .shards: AppKey(\.pausedShards)
            case .cancels: AppKey(\.cancels)
            }
        return ["HGETALL", key]
    }

    /// Returns each name with its note; `pause.lua` describes the note's format.
    package static func read(_ value: RESPValue) throws(StoreError) -> [(name: [UInt8], text: String)] {
        var reader = try ReplyReader(value, Self.self)
        var pauses: [(name: [UInt8], text: String)] = []
        while !reader.isAtEnd { pauses.append((try reader.bytes(), try reader.text())) }
        return pauses
    }

    /// The pauses, oldest first.
    package func pauses(_ reply: [(name: [UInt8], text: String)]) -> [Item] {
        reply.map { item($0.name, $0.text) }.sorted { ($0.since, $0.text) < ($1.since, $1.text) }
    }

    private func item(_ name: [UInt8], _ text: String) -> Item {
        let words = text.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false).map {
            String($0)
        }
        func word(_ index: Int) -> String { index < words.count ? words[index] : "" }
        var item = Item(name: name, since: Int64(foreign: word(0)) ?? 0, kind: "")
        switch kind {
        case .jobs where words.count < 2: item.kind = "poison"
        case .jobs, .shards: (item.kind, item.by, item.reason) = (word(1), word(2), word(3))
        case .tokens:
            (item.kind, item.by, item.reason) = ("quarantine", word(2), word(3))
            item.shard = Int(foreign: word(1))
        case .cancels:
            (item.kind, item.by) = ("cancel", word(3))
            item.from = Int64(foreign: word(1)) ?? 0
        }
        return item
    }
}
