import EventLoop
import PushModel
import RedisProtocol
import StoreProtocol

/// Looks through everything that an app has in Redis, a bounded part at a time.
///
/// A batch may move meanwhile, so what comes later on its way is looked at later. Lists are read from their ends: what is
/// taken from their beginnings leaves none out.
@Loop final class QueueSearch {
    let client: FarmClient
    let app: String
    let wanted: Wanted
    let shards: Int
    private(set) var findings: [PushFinding] = []

    /// Batch ids, and bodies, read at a time.
    private static let ids = 1000
    private static let bodies = 64

    init(_ client: FarmClient, app: String, wanted: Wanted, shards: Int) {
        (self.client, self.app, self.wanted, self.shards) = (client, app, wanted, shards)
    }

    func run() async throws(CommandFailure) -> [PushFinding] {
        try await lookInJobs("pushfarm:\(app)", .inbox)
        try await lookInJobs(key("taken"), .taken)
        try await lookInDelayed()
        try await lookInList("paused", .paused)
        for shard in wanted.shards(of: shards) {
            let name = LeaseField.name(ofShard: shard)
            try await lookInList("ready:\(name)", .ready)
            try await lookInList("bulk:\(name)", .bulk)
            try await lookInList("in_flight:\(name)", .flight)
        }
        try await lookInResults()
        return findings
    }

    /// The beginnings of the ids of batches that it may be in.
    private lazy var prefixes = Set(wanted.shards(of: shards).map { LeaseField.name(ofShard: $0) })

    private func key(_ name: String) -> String { "{pushfarm:\(app)}:\(name)" }

    private func ask(_ words: String...) async throws(CommandFailure) -> RESPValue {
        try await ask(words)
    }

    private func ask(_ words: [String]) async throws(CommandFailure) -> RESPValue {
        var command = RESPCommand()
        for word in words { command.append(word) }
        do { return try await client.redis.call(command) } catch {
            throw client.failure(.redis(error))
        }
    }

    // MARK: Jobs that are not split

    private func lookInJobs(_ list: String, _ place: PushFinding.Place) async throws(CommandFailure) {
        let texts = JobTexts(client)
        try await texts.each(list) { job in
            guard let parsed = texts.parse(job, app: app) else { return true }
            for push in parsed.pushes where wanted.isToken(parsed.tokenBytes[push.token], of: parsed.id) {
                let token = parsed.tokenBytes[push.token]
                let id = parsed.id.map { id in
                    token.withUnsafeBytes { PushID.Job(id: id).pushID(token: $0) }.description
                }
                findings.append(
                    PushFinding(
                        app: app, place: place, job: parsed.id, token: Hexadecimal.text(of: token), id: id))
            }
            return true
        }
    }

    // MARK: Batches

    private func lookInDelayed() async throws(CommandFailure) {
        var cursor = "0"
        repeat {
            let page = try await ask("ZSCAN", key("delayed"), cursor, "COUNT", "\(Self.ids)").array ?? []
            guard page.count == 2 else { return }
            cursor = page[0].text ?? "0"
            let due = page[1].fields
                .filter { prefixes.contains(String($0.key.prefix { $0 != "." })) }
                .compactMapValues { Double($0).map { Int64(foreign: Int64(clamping: $0)) } }
            try await look(in: Array(due.keys), .delayed, due: due)
        } while cursor != "0"
    }

    private func lookInList(_ name: String, _ place: PushFinding.Place) async throws(CommandFailure) {
        var end = -1
        while true {
            let page = try await ask("LRANGE", key(name), "\(end - Self.ids + 1)", "\(end)").array ?? []
            let ids = page.compactMap(\.text).filter { prefixes.contains(String($0.prefix { $0 != "." })) }
            try await look(in: ids, place, due: [:])
            guard page.count == Self.ids else { return }
            end -= Self.ids
        }
    }

    private func look(
        in ids: [String], _ place: PushFinding.Place, due: [String: Int64]
    ) async throws(CommandFailure) {
        for start in stride(from: 0, to: ids.count, by: Self.bodies) {
            let part = Array(ids[start..<min(start + Self.bodies, ids.count)])
            let bodies = try await ask(["HMGET", key("batches")] + part).array ?? []
            for (id, body) in zip(part, bodies) {
                guard let bytes = body.bytes, let batch = try? Batch(decoding: bytes) else { continue }
                for position in wanted.positions(in: batch) {
                    try await found(id, batch, position, place, due: due[id])
                }
            }
        }
    }

    private func found(
        _ id: String, _ batch: Batch, _ position: Int, _ place: PushFinding.Place, due: Int64?
    ) async throws(CommandFailure) {
        let state = (try await ask("HGET", key("states"), id).text ?? "").split(
            separator: "|", maxSplits: 5, omittingEmptySubsequences: false)
        guard state.count == 6, position < state[5].utf8.count else { return }
        let letter = Array(state[5].utf8)[position]
        // What was handed over is in the results, or settled.
        guard letter != UInt8(ascii: "x") else { return }
        let push = batch.pushes[position]
        let job = batch.jobID(of: Int(push.segment))
        var details: [(name: String, value: String)] = [("batch", id)]
        if place == .flight {
            details.append(("worker", String(state[0])))
            let isGranted = position < Int(foreign: state[2]) ?? 0
            details.append(("sent", isGranted ? "maybe" : "no"))
        }
        let segment = batch.segments[Int(push.segment)]
        details.append(("attempts", "\(segment.attempt)"))
        if !segment.cause.isEmpty { details.append(("cause", batch.text(segment.cause))) }
        let token = batch.bytes[push.token]
        if letter == UInt8(ascii: "p") { details += try await why(job, token) }
        findings.append(
            PushFinding(
                app: app, place: place, job: job, token: Hexadecimal.text(of: token),
                id: token.withUnsafeBytes { PushID.Job(id: job).pushID(token: $0) }.description, at: due,
                details: details))
    }

    /// Why a push is paused: its job, its token, or both. Empty while it is being resumed.
    private func why(
        _ job: String, _ token: ArraySlice<UInt8>
    ) async throws(CommandFailure) -> [(name: String, value: String)] {
        let jobs = try await client.marks(.jobs, app).filter { $0.text == job }
        let devices = try await client.marks(.devices, app).filter { $0.name.elementsEqual(token) }
        return jobs.map { ("paused_job", $0.kind) } + devices.map { ("paused_token", $0.kind) }
    }

    // MARK: What is reported and not settled

    private func lookInResults() async throws(CommandFailure) {
        var after = "-"
        while true {
            let page = try await ask("XRANGE", key("results"), after, "+", "COUNT", "64").array ?? []
            for entry in page {
                guard let parts = entry.array, let id = parts.first?.text else { continue }
                after = "(" + id
                guard let words = parts.last?.array, words.count >= 2, let bytes = words[1].bytes,
                    let entry = try? ResultsEntry(decoding: bytes)
                else { continue }
                look(in: entry, id)
            }
            guard page.count == 64 else { return }
        }
    }

    private func look(in entry: ResultsEntry, _ id: String) {
        for item in entry.items {
            let job = entry.jobID(of: item)
            var tokens: [Range<Int>] = []
            switch item.result {
            case .delivered(let range): tokens = entry.tokens[range].map(\.range)
            case .failed(let failure): tokens = entry.tokens[failure.tokens].map(\.range)
            case .expired(let expiry): tokens = entry.tokens[expiry.tokens].map(\.range)
            case .retry(let retry): tokens = entry.pushes[retry.segment.pushes].map(\.token)
            case .letter(let letter): tokens = entry.pushes[letter.segment.pushes].map(\.token)
            }
            for token in tokens where wanted.isToken(entry.bytes[token], of: job) {
                findings.append(
                    PushFinding(
                        app: app, place: .reported, job: job, token: Hexadecimal.text(of: entry.bytes[token]),
                        at: EntryID(Array(id.utf8)).milliseconds))
            }
        }
    }
}
