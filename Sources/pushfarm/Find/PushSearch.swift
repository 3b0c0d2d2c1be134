import EventLoop
import FarmLogging
import PushModel
import StoreProtocol

/// Finds where a push is in one app, and its history.
@Loop struct PushSearch {
    let client: FarmClient
    let app: String
    let wanted: Wanted
    let shards: Int
    /// Events looked at, the latest.
    let events: Int

    func run() async throws(CommandFailure) -> [PushFinding] {
        let queues = QueueSearch(client, app: app, wanted: wanted, shards: shards)
        var found = try await queues.run()
        found += try await letters()
        if case .token(let token) = wanted {
            found += try await suppressed(token)
            found += try await paused(token)
            found += try await events(about: Hexadecimal.text(of: token))
        }
        found += try await audit()
        return found
    }

    private func letters() async throws(CommandFailure) -> [PushFinding] {
        var found: [PushFinding] = []
        try await DeadLetterStore(client: client, app: app).read(DeadLetterFilter()) {
            (letter) throws(CommandFailure) in
            guard let batch = try? Batch(decoding: letter.body) else { return true }
            for position in wanted.positions(in: batch) {
                let token = batch.bytes[batch.pushes[position].token]
                let id = token.withUnsafeBytes { PushID.Job(id: letter.job).pushID(token: $0) }
                found.append(
                    PushFinding(
                        app: app, place: .deadLetter, job: letter.job, token: Hexadecimal.text(of: token),
                        id: "\(id)",
                        at: letter.id.milliseconds,
                        details: [("dead_letter", "\(letter.id)"), ("reason", letter.reason)]))
            }
            return true
        }
        return found
    }

    private func suppressed(_ token: [UInt8]) async throws(CommandFailure) -> [PushFinding] {
        let book = try await SuppressionStore.open(client, app: app)
        return try await book.lines(of: book.shard(of: token)) { $0.token == token }.map { line in
            PushFinding(
                app: app, place: .suppressed, token: Hexadecimal.text(of: token), at: line.time * 1000,
                details: [
                    ("reason", line.reason.name), ("topic", line.scope.topic),
                    ("environment", line.scope.environment),
                ])
        }
    }

    /// The pauses of a token and of its shard, whether or not pushes to the token are open.
    private func paused(_ token: [UInt8]) async throws(CommandFailure) -> [PushFinding] {
        let shard = ShardHash.shard(of: token, shards: shards)
        let devices = try await client.marks(.devices, app).filter { $0.name == token }
        let withheld = try await client.marks(.shards, app).filter { $0.shardNumber == shard }
        return (devices.map { ($0, "the token") } + withheld.map { ($0, "shard \(shard)") }).map {
            mark, what in
            PushFinding(
                app: app, place: .paused, token: Hexadecimal.text(of: token), at: mark.since,
                details: [
                    ("subject", what), ("how", mark.kind), ("by", mark.by.isEmpty ? "the farm" : mark.by),
                    ("reason", mark.reason),
                ])
        }
    }

    /// Events about a token.
    private func events(about token: String) async throws(CommandFailure) -> [PushFinding] {
        try await client.events(of: app, among: events) { $0["token"] == token }.map { event in
            let words = event.fields.filter { !["type", "at", "token", "job"].contains($0.name) }
            return PushFinding(
                app: app, place: .event, job: event["job"], token: token, at: event.id.milliseconds,
                details: [("type", event["type"] ?? "?")] + words.map { ($0.name, $0.value) })
        }
    }

    private func audit() async throws(CommandFailure) -> [PushFinding] {
        var found: [PushFinding] = []
        var marks: [String: UInt64] = [:]
        var (after, unreadable): (EntryID?, Int) = (nil, 0)
        while true {
            let page = try await client.call(ReadAudit(after: after), app)
            guard let last = page.last else { break }
            after = last.id
            for entry in page {
                if entry.groups == nil { unreadable += 1 }
                for group in entry.groups ?? [] {
                    if marks.count > 100_000 { marks = [:] }
                    let mark = marks[group.job] ?? wanted.mark(in: group.job)
                    marks[group.job] = mark
                    guard group.marks.contains(mark) else { continue }
                    found.append(finding(group, at: entry.id.milliseconds))
                }
            }
        }
        if unreadable > 0 {
            let text = "pushfarm: \(app): \(unreadable) records of the audit cannot be read\n"
            Terminal.write(text, to: Terminal.standardError)
        }
        return found
    }

    private func finding(_ group: AuditRecord.Group, at moment: Int64) -> PushFinding {
        var details: [(name: String, value: String)] = [("outcome", group.outcome.word)]
        if !group.reason.isEmpty { details.append(("reason", group.reason)) }
        if group.status != 0 { details.append(("status", "\(group.status)")) }
        var finding = PushFinding(app: app, place: .audit, job: group.job, at: moment, details: details)
        switch wanted {
        case .token(let token):
            finding.token = Hexadecimal.text(of: token)
            finding.id = token.withUnsafeBytes { PushID.Job(id: group.job).pushID(token: $0) }.description
        case .push(let id): finding.id = id.description
        }
        return finding
    }
}

extension AuditRecord.Outcome {
    fileprivate var word: String {
        switch self {
        case .delivered: "delivered"
        case .failed: "failed"
        case .expired: "expired"
        case .retry: "retried"
        }
    }
}
