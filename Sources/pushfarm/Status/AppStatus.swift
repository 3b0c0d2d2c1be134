import EventLoop
import StoreProtocol

/// The state of an app's work.
struct AppStatus: Sendable {
    let app: String
    /// The app's pause, or nil when the app is not paused.
    let pause: ReadAppState.Pause?
    /// The settings that operators' commands made, except the pause.
    var appState = ReadAppState.State()
    /// The reason why the app is full, or nil when the app accepts jobs.
    let full: ReadAppState.Fullness?
    let depths: ReadDepths.Reply
    /// How many of the app's latest jobs are open; nil if the jobs were not read.
    let openJobs: Int?
    /// The hosts that own leases of the app, sorted by name.
    let owners: [Owner]
    /// The number of shards without an owner. If the app's intake has no owner, it counts as one more shard.
    let unowned: Int
    /// The state of the app's feedback service, or nil when the app has none.
    var feedback: ReadFeedbackStatus.State?
    /// The ages of the oldest pushes.
    var ages = ReadAges.Reply(high: nil, bulk: nil)
    /// Shards that an operator has paused.
    var pausedShards: [ReadPauses.Item] = []
    /// The number of pushes in dead letters.
    var dead = 0
    /// Keys of the wrong type, and unreadable data.
    var faults = FindDamage.Reply()
    /// Refused jobs: the total, and the number in the last minute.
    var refusals = ReadRefusals.Reply()
    var refusedLastMinute = 0

    /// The leases of one host for the app.
    struct Owner: Sendable {
        let host: String
        var shards = 0
        var hasIntake = false
        /// The time until the lease ends. Negative if the lease has expired and no other host has acquired it yet.
        var leaseRemaining: Duration
    }

    /// The number of latest jobs to search for open jobs.
    private static let latest = 1000

    @Loop static func read(
        _ app: String, shards: Int, from client: FarmClient, countsJobs: Bool = true
    ) async throws(CommandFailure) -> AppStatus {
        let faults = try await client.call(FindDamage(shards: shards), app)
        let reader = AppStatusReader(app: app, client: client, hasFaults: !faults.wrongTypes.isEmpty)
        let appState = try await reader.read(ReadAppState(), else: .init())
        let depths = try await reader.read(ReadDepths(shards: shards), else: .empty(shards: shards))
        let leases = try await reader.read(ReadOwners(), else: .init())
        let now = try await client.clock()
        let ages = ReadAges.Reply(high: nil, bulk: nil)
        let pauses = ReadPauses(.shards)
        let refusals = try await reader.read(ReadRefusals(), else: .init())
        return AppStatus(
            app: app, pause: appState.pause, appState: appState,
            full: appState.full, depths: depths,
            openJobs: countsJobs ? try await openJobs(of: reader) : nil, owners: owners(leases, at: now),
            unowned: shards + 1 - leases.leases.count, feedback: try await feedback(of: reader),
            ages: try await reader.read(ReadAges(shards: shards), else: ages),
            pausedShards: pauses.pauses(try await reader.read(pauses, else: [])),
            dead: try await reader.read(CountDeadLetters(), else: .init()).pushes, faults: faults,
            refusals: refusals,
            refusedLastMinute: refusals.lastMinute(at: Int64(clamping: now / .milliseconds(1))))
    }

    @Loop private static func openJobs(of reader: AppStatusReader) async throws(CommandFailure) -> Int {
        var open = 0
        for id in try await reader.read(LatestJobs(count: latest), else: []) {
            let fields = try await reader.readRecord(of: id)
            if JobRecord(id: id, app: reader.app, fields: fields)?.state == .open { open += 1 }
        }
        return open
    }

    /// The state of the app's feedback service; nil if the configuration has no feedback service for the app. Redis may
    /// still have a state then, because it keeps the state after the service is removed from the configuration.
    @Loop private static func feedback(
        of reader: AppStatusReader
    ) async throws(CommandFailure) -> ReadFeedbackStatus.State? {
        let known = reader.client.configuration.app(named: reader.app)
        if let known, known.binary?.feedback == nil { return nil }
        return try await reader.read(ReadFeedbackStatus(), else: nil)
    }

    private static func owners(_ leases: ReadOwners.Reply, at now: Duration) -> [Owner] {
        var owners: [String: Owner] = [:]
        for (lease, token) in leases.leases {
            let remaining = .milliseconds(leases.leaseEnds[token.nonce] ?? 0) - now
            var owner = owners[token.host] ?? Owner(host: token.host, leaseRemaining: remaining)
            // If the host has just restarted, leases of its old and its new coordinator may exist. Show the time until
            // the first of them ends.
            owner.leaseRemaining = min(owner.leaseRemaining, remaining)
            if lease == .intake { owner.hasIntake = true } else { owner.shards += 1 }
            owners[token.host] = owner
        }
        return owners.values.sorted { $0.host < $1.host }
    }

    /// The app's state as one word.
    var state: (word: String, paint: Paint) {
        if pause != nil { return ("paused", .red) }
        return full == nil ? ("running", .green) : ("full", .yellow)
    }

    /// Queued batches in the lane `high`.
    var high: Int { depths.shards.reduce(0) { $0 + $1.high } }
    var bulk: Int { depths.shards.reduce(0) { $0 + $1.bulk } }
    var ready: Int { high + bulk }
    /// The number of batches that workers have checked out.
    var inFlight: Int { depths.shards.reduce(0) { $0 + $1.flight } }
    /// The number of jobs that the intake has not completely split.
    var inbox: Int { depths.inbox + depths.taken }

    /// Whether the app has jobs, open pushes or reports that a host must still process.
    var hasWork: Bool { inbox + depths.open + depths.results > 0 }

    var json: JSONValue {
        .object([
            "app": .string(app), "state": .string(pause == nil ? "running" : "paused"),
            "paused_reason": .text(pause?.reason), "full_reason": .text(full?.reason.rawValue),
            "paused_by": .text(pause?.by), "rate": .text(appState.rate?.text),
            "admission": .string(appState.admission?.rawValue ?? "auto"),
            "open": .number(depths.open), "ready": .number(ready), "in_flight": .number(inFlight),
            "delayed": .number(depths.delayed), "paused_batches": .number(depths.paused),
            "results": .number(depths.results), "inbox": .number(inbox), "jobs_open": .whole(openJobs),
            "ready_high": .number(high), "ready_bulk": .number(bulk),
            "oldest_ms": .whole(ages.oldest.map { Int(clamping: $0 / .milliseconds(1)) }),
            "dead_letters": .number(dead),
            "refused": .number(refusals.refused), "refused_last_minute": .number(refusedLastMinute),
            "duplicates": .number(refusals.duplicates),
            "paused_shards": .array(pausedShards.map { .number($0.shardNumber) }),
            "unowned": .number(unowned),
            "wrong_types": .array(faults.wrongTypes.map(\.json)),
            "unsettleable": .number(faults.unsettled), "unreadable": .number(faults.unreadable),
            "owners": .array(owners.map(\.json)), "feedback": feedback?.json ?? .null,
        ])
    }
}

extension ReadFeedbackStatus.State {
    fileprivate var json: JSONValue {
        .object([
            "reading": .bool(isReading), "read_at": readAt > 0 ? .number(readAt) : .null,
            "due": due > 0 ? .number(due) : .null, "tokens": .number(tuples), "total": .number(total),
            "failures": .number(failures), "error": .text(error.isEmpty ? nil : error),
        ])
    }
}

extension AppStatus.Owner {
    var leaseMilliseconds: Int {
        Int(leaseRemaining.clampedMilliseconds)
    }

    var json: JSONValue {
        .object([
            "host": .string(host), "shards": .number(shards), "intake": .bool(hasIntake),
            "lease_ms": .number(max(0, leaseMilliseconds)),
        ])
    }
}

extension FindDamage.WrongType {
    fileprivate var json: JSONValue {
        .object(["key": .string(key), "type": .string(found), "expected": .string(expected)])
    }
}

/// Reads an app's status from Redis. If a key has the wrong type, the status names the key and does not have its
/// values.
@Loop struct AppStatusReader {
    let app: String
    let client: FarmClient
    let hasFaults: Bool

    func read<Step: Request>(
        _ request: Step, else instead: Step.Reply
    ) async throws(CommandFailure) -> Step.Reply {
        do { return try await client.call(request, app) } catch {
            guard hasFaults, error.status != .temporary else { throw error }
            return instead
        }
    }

    /// The fields of a job record, or no fields when the record does not exist or is unreadable.
    func readRecord(of job: String) async throws(CommandFailure) -> [String: String] {
        do { return try await client.call(ReadJobRecord(job: job), app) } catch {
            guard error.status != .temporary else { throw error }
            return [:]
        }
    }
}

extension AppStatus {
    /// Lines about the settings that operators have made, and about refused jobs.
    var operatorSettings: [String] {
        var lines: [String] = []
        if refusedLastMinute > 0 {
            let jobs = refusedLastMinute == 1 ? "1 job was" : "\(refusedLastMinute) jobs were"
            lines.append("\(app): \(jobs) refused in the last minute, see pushfarm refused list")
        }
        switch appState.rate {
        case nil: break
        case .off: lines.append("\(app): no rate limit, set by \(appState.rateBy ?? "an operator")")
        case .limit(let rate):
            lines.append(
                "\(app): at most \(Figures.perTime(rate)), by \(appState.rateBy ?? "an operator")")
        }
        if let admission = appState.admission {
            lines.append(
                "\(app): \(admission.rawValue) to producers, by \(appState.admissionBy ?? "an operator")")
        }
        if appState.cancels > 0 {
            lines.append("\(app): \(appState.cancels) job\(appState.cancels == 1 ? "" : "s") being cancelled")
        }
        return lines
    }
}

extension FullReason {
    /// The text for a person.
    var text: String {
        switch self {
        case .memory: "the memory of Redis is nearly full; producers must wait"
        case .backlog: "max_backlog pushes are open; producers must wait"
        case .inbox: "its inbox has reached max_inbox or max_inbox_bytes; producers must wait"
        case .operator: "an operator has closed admission; producers must wait"
        }
    }

    /// The reason why a job was refused, in words.
    /// - Parameter reason: the reason from Redis or from this program.
    static func words(_ reason: String, _ app: String) -> String {
        FullReason(rawValue: reason) == .operator
            ? "an operator has closed \(app) to producers" : "the farm is full (\(reason))"
    }
}
