import EventLoop
import PushModel
import StoreProtocol

/// Finds where a push is now, in one app. Searches all jobs, batches and reports of the app in Redis, a limited part at
/// a time.
///
/// A batch may move from list to list during the search, so the lists are searched in the order in which a batch moves
/// through them. Each list is read from its end to its start. Workers remove batches at the start, so no batch is
/// skipped.
@Loop final class PushSearch {
    private let client: FarmClient
    private let app: String
    private let wanted: SearchTarget
    private let shards: Int
    private var findings: [PushFinding] = []

    /// The number of batch ids, and of batch bodies, to read at a time.
    private static let ids = 1000
    private static let bodies = 64

    init(_ client: FarmClient, app: String, wanted: SearchTarget, shards: Int) {
        (self.client, self.app, self.wanted, self.shards) = (client, app, wanted, shards)
    }

    func run() async throws(CommandFailure) -> [PushFinding] {
        try await searchJobs(.inbox, .inbox)
        try await searchJobs(.taken, .taken)
        try await searchDelayed()
        try await searchList(.paused, .paused)
        for shard in wanted.shards(of: shards) {
            try await searchList(.ready(shard: shard, .high), .ready)
            try await searchList(.ready(shard: shard, .bulk), .bulk)
            try await searchList(.inFlight(shard: shard), .flight)
        }
        try await searchResults()
        return findings
    }

    /// The id prefixes of the batches that may contain the push.
    private lazy var prefixes = Set(wanted.shards(of: shards).map { LeaseID.name(ofShard: $0) })

    // MARK: Jobs that are not split

    private func searchJobs(
        _ list: ReadListEnd.List, _ location: PushFinding.Location
    ) async throws(CommandFailure) {
        try await client.eachJob(in: list, of: app) { job in
            guard let parsed = client.parse(job, of: app) else { return true }
            for push in parsed.pushes where wanted.isToken(parsed.tokenBytes[push.token], of: parsed.id) {
                findings.append(
                    PushFinding(
                        app: app, location: location, job: parsed.id, pushTo: parsed.tokenBytes[push.token]))
            }
            return true
        }
    }

    // MARK: Batches

    private func searchDelayed() async throws(CommandFailure) {
        var cursor: String? = "0"
        while let from = cursor {
            let page = try await client.call(ReadDelayed(.scan(cursor: from, count: Self.ids)), app)
            cursor = page.next
            let due = Dictionary(page.entries.filter { matches($0.id) }.map { ($0.id, $0.due) }) { $1 }
            try await search(in: Array(due.keys), .delayed, due: due)
        }
    }

    private func searchList(
        _ list: ReadListEnd.List, _ location: PushFinding.Location
    ) async throws(CommandFailure) {
        var skipped = 0
        while true {
            let page = try await client.call(ReadListEnd(list, skipping: skipped, count: Self.ids), app)
            let ids = page.map { String(decoding: $0, as: UTF8.self) }.filter(matches)
            try await search(in: ids, location, due: [:])
            guard page.count == Self.ids else { return }
            skipped += Self.ids
        }
    }

    /// Whether the batch with this id may contain the push.
    private func matches(_ batch: String) -> Bool { prefixes.contains(String(batch.prefix { $0 != "." })) }

    private func search(
        in ids: [String], _ location: PushFinding.Location, due: [String: Int64]
    ) async throws(CommandFailure) {
        for start in stride(from: 0, to: ids.count, by: Self.bodies) {
            let part = Array(ids[start..<min(start + Self.bodies, ids.count)])
            for (id, batch) in zip(part, try await client.call(ReadBatches(part), app)) {
                guard let batch else { continue }
                for position in wanted.positions(in: batch) {
                    try await found(id, batch, position, location, due: due[id])
                }
            }
        }
    }

    private func found(
        _ id: String, _ batch: Batch, _ position: Int, _ location: PushFinding.Location, due: Int64?
    ) async throws(CommandFailure) {
        guard let state = try await client.call(ReadBatchStates([id]), app).first ?? nil,
            position < state.map.count
        else { return }
        let letter = state.map[position]
        // The state `x` means that a worker has reported the outcome of the push. The outcome is in the results stream
        // or already settled, so the push is no longer in this batch.
        guard letter != UInt8(ascii: "x") else { return }
        let push = batch.pushes[position]
        let job = batch.jobID(of: Int(push.jobPart))
        var details: [(name: String, value: String)] = [("batch", id)]
        if location == .flight {
            details += [("worker", state.worker), ("sent", position < state.granted ? "maybe" : "no")]
        }
        let jobPart = batch.jobParts[Int(push.jobPart)]
        details.append(("attempts", "\(jobPart.attempt)"))
        if !jobPart.cause.isEmpty { details.append(("cause", batch.text(jobPart.cause))) }
        let token = batch.bytes[push.token]
        if letter == UInt8(ascii: "p") { details += try await why(job, token) }
        findings.append(
            PushFinding(app: app, location: location, job: job, pushTo: token, at: due, details: details))
    }

    /// Why a push is paused: because its job is paused, its token, or both. Empty if the pause has just ended and the
    /// push is not resumed yet.
    private func why(
        _ job: String, _ token: ArraySlice<UInt8>
    ) async throws(CommandFailure) -> [(name: String, value: String)] {
        let jobs = try await client.pauses(.jobs, app).filter { $0.text == job }
        let tokenPauses = try await client.pauses(.tokens, app).filter { $0.name.elementsEqual(token) }
        return jobs.map { ("paused_job", $0.kind) } + tokenPauses.map { ("paused_token", $0.kind) }
    }

    // MARK: Reported and unsettled outcomes

    private func searchResults() async throws(CommandFailure) {
        var after: EntryID?
        repeat {
            let page = try await client.call(ListReports(after: after), app)
            for (id, entry) in page.entries { search(in: entry, id) }
            after = page.next
        } while after != nil
    }

    private func search(in entry: WorkerReport, _ id: EntryID) {
        for item in entry.items {
            let job = entry.jobID(of: item)
            var tokens: [Range<Int>] = []
            switch item.result {
            case .delivered(let range): tokens = entry.tokens[range].map(\.range)
            case .failed(let failure): tokens = entry.tokens[failure.tokens].map(\.range)
            case .expired(let expiry): tokens = entry.tokens[expiry.tokens].map(\.range)
            case .retry(let retry): tokens = entry.pushes[retry.jobPart.pushes].map(\.token)
            case .letter(let letter): tokens = entry.pushes[letter.jobPart.pushes].map(\.token)
            }
            for token in tokens where wanted.isToken(entry.bytes[token], of: job) {
                findings.append(
                    PushFinding(
                        app: app, location: .reported, job: job,
                        token: Hexadecimal.text(of: entry.bytes[token]),
                        at: id.milliseconds))
            }
        }
    }
}
