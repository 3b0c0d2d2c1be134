import EventLoop
import FarmLogging
import PushModel
import StoreProtocol

/// Finds what is recorded about a push in one app: in dead letters, the suppression list, pauses, events and the audit
/// of outcomes.
@Loop final class PushHistory {
    private let client: FarmClient
    private let app: String
    private let wanted: SearchTarget
    private let shards: Int
    /// The number of latest events to search.
    private let events: Int
    private var findings: [PushFinding] = []

    init(_ client: FarmClient, app: String, wanted: SearchTarget, shards: Int, events: Int) {
        (self.client, self.app, self.wanted) = (client, app, wanted)
        (self.shards, self.events) = (shards, events)
    }

    func run() async throws(CommandFailure) -> [PushFinding] {
        try await searchDeadLetters()
        if case .token(let token) = wanted {
            try await searchSuppressed(token)
            try await searchPauses(token)
            try await searchEvents(about: Hexadecimal.text(of: token))
        }
        try await searchAudit()
        return findings
    }

    private func searchDeadLetters() async throws(CommandFailure) {
        try await client.readDeadLetters(of: app, DeadLetterFilter()) {
            (letter) throws(CommandFailure) in
            guard let batch = try? Batch(decoding: letter.body) else { return true }
            for position in wanted.positions(in: batch) {
                findings.append(
                    PushFinding(
                        app: app, location: .deadLetter, job: letter.job,
                        pushTo: batch.bytes[batch.pushes[position].token], at: letter.id.milliseconds,
                        details: [("dead_letter", "\(letter.id)"), ("reason", letter.reason)]))
            }
            return true
        }
    }

    private func searchSuppressed(_ token: [UInt8]) async throws(CommandFailure) {
        let store = try await SuppressionStore.open(client, app: app)
        findings += try await store.lines(of: store.shard(of: token)) { $0.token == token }.map { line in
            PushFinding(
                app: app, location: .suppressed, token: Hexadecimal.text(of: token), at: line.time * 1000,
                details: [
                    ("reason", line.reason.name), ("topic", line.scope.topic),
                    ("environment", line.scope.environment),
                ])
        }
    }

    /// Searches the pauses of the token and of its shard. The result shows such a pause even if the token has no open
    /// pushes.
    private func searchPauses(_ token: [UInt8]) async throws(CommandFailure) {
        let shard = ShardHash.shard(of: token, shards: shards)
        let tokenPauses = try await client.pauses(.tokens, app).filter { $0.name == token }
        let withheld = try await client.pauses(.shards, app).filter { $0.shardNumber == shard }
        findings += (tokenPauses.map { ($0, "the token") } + withheld.map { ($0, "shard \(shard)") }).map {
            mark, what in
            PushFinding(
                app: app, location: .paused, token: Hexadecimal.text(of: token), at: mark.since,
                details: [
                    ("subject", what), ("how", mark.kind), ("by", mark.by.isEmpty ? "the farm" : mark.by),
                    ("reason", mark.reason),
                ])
        }
    }

    /// Searches events about a token.
    private func searchEvents(about token: String) async throws(CommandFailure) {
        findings += try await client.events(of: app, among: events) { $0["token"] == token }.map { event in
            let words = event.fields.filter { !["type", "at", "token", "job"].contains($0.name) }
            return PushFinding(
                app: app, location: .event, job: event["job"], token: token, at: event.id.milliseconds,
                details: [("type", event["type"] ?? "?")] + words.map { ($0.name, $0.value) })
        }
    }

    private func searchAudit() async throws(CommandFailure) {
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
                    findings.append(finding(group, at: entry.id.milliseconds))
                }
            }
        }
        if unreadable > 0 {
            let text = "pushfarm: \(app): \(unreadable) records of the audit cannot be read\n"
            Terminal.write(text, to: Terminal.standardError)
        }
    }

    private func finding(_ group: AuditRecord.Group, at moment: Int64) -> PushFinding {
        var details: [(name: String, value: String)] = [("outcome", group.outcome.word)]
        if !group.reason.isEmpty { details.append(("reason", group.reason)) }
        if group.status != 0 { details.append(("status", "\(group.status)")) }
        switch wanted {
        case .token(let token):
            return PushFinding(
                app: app, location: .audit, job: group.job, pushTo: token[...], at: moment, details: details)
        case .push(let id):
            return PushFinding(
                app: app, location: .audit, job: group.job, id: id.description, at: moment, details: details)
        }
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
