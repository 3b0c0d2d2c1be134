import PushModel
import StoreProtocol

/// The submitted chunks with the facts from events and job records. Owns no connection and no clock.
///
/// Only failures cause an event. So a push without an event was delivered, if the tracker has got all events of the
/// job. When a job has finished, the tracker compares the job's number of deliveries with its number of tokens without
/// an event. If the two numbers are equal, no event was missed, so the tokens without an event count as delivered. The
/// tracker also keeps events of unknown chunks, because an earlier process may have submitted these chunks.
struct ScreeningTracker {
    private struct Chunk {
        let tokens: [String]
        let since: String
    }

    /// The facts known about one token.
    private struct TokenFacts {
        var failure: (reason: String, cause: String?)?
        var invalid: String?
        /// When the token became invalid, in Unix seconds. If the event does not contain this time, `since` is the time
        /// of the event.
        var since: Int64 = 0
    }

    private struct ChunkFacts {
        var tokens: [String: TokenFacts] = [:]
        /// The number of the job's delivered pushes; nil until the job is known to be finished.
        var delivered: Int?
    }

    enum Update: Equatable {
        /// The event is about a job of another producer, or has a type that the screening does not use.
        case nothing
        /// The event is about a token, or about the chunk's whole job.
        case outcome
        /// The farm has refused the chunk's job.
        case refused(Int, reason: String)
    }

    private let run: String
    private var chunks: [Int: Chunk] = [:]
    private var chunkFacts: [Int: ChunkFacts] = [:]
    private(set) var done: RangeSet<Int>
    /// The tokens in open chunks.
    private(set) var openTokens = 0

    /// - Parameter done: chunks whose tokens all have an outcome.
    init(run: String, done: RangeSet<Int> = RangeSet()) { (self.run, self.done) = (run, done) }

    /// The id of a chunk's job.
    func id(of chunk: Int) -> String { "\(ScreeningJob.prefix)\(run).\(chunk)" }

    /// The job of a chunk. The job sends each token a push that devices neither show nor store.
    func job(of chunk: Int, _ tokens: [String]) -> SubmitJob {
        let draft = JobDraft(
            id: id(of: chunk), recipients: tokens.map { $0[...] },
            payload: #"{"aps":{"content-available":1}}"#,
            fields: [
                ("push_type", .string("background")), ("priority", .number(5)), ("ttl", .number(0)),
                ("lane", .string("bulk")),
            ])
        return SubmitJob(job: Array(draft.text.utf8), id: draft.id)
    }

    /// The open chunks in order.
    var open: [Int] { chunks.keys.sorted() }

    var isEmpty: Bool { chunks.isEmpty }

    func tokens(of chunk: Int) -> [String] { chunks[chunk]?.tokens ?? [] }

    /// Whether the job of a chunk is known to be finished.
    func hasEnded(_ chunk: Int) -> Bool { chunkFacts[chunk]?.delivered != nil }

    /// The event position from which open chunks still need events, or nil when no chunk is open.
    var since: String? { chunks.min { $0.key < $1.key }?.value.since }

    /// Whether events arrived for chunks that are not open yet because an earlier process submitted them.
    var hasUnknownChunks: Bool { chunkFacts.keys.contains { chunks[$0] == nil } }

    /// - Parameter since: a position in the event stream that is before all events of the job.
    mutating func open(_ chunk: Int, _ tokens: [String], since: String) {
        chunks[chunk] = Chunk(tokens: tokens, since: since)
        openTokens += tokens.count
    }

    /// Records that the chunk's job is finished. Before the caller closes the chunk, it must record all events of the
    /// job.
    mutating func ended(_ chunk: Int, delivered: Int) {
        if !done.contains(chunk) { chunkFacts[chunk, default: ChunkFacts()].delivered = delivered }
    }

    /// - Parameter event: returns a field of the event by its name.
    mutating func record(_ event: (String) -> String?) -> Update {
        guard let chunk = event("job").flatMap(number), !done.contains(chunk) else { return .nothing }
        switch event("type") {
        case "push.failed":
            note(event, chunk) { $0.failure = (event("reason") ?? "unknown", event("cause")) }
        case "push.expired":
            note(event, chunk) { $0.failure = ("expired", event("cause")) }
        case "push.capped":
            note(event, chunk) { $0.failure = ("capped", nil) }
        case "token.invalid":
            note(event, chunk) { $0.invalid = event("reason") ?? "unknown" }
        case "job.finished":
            guard let delivered = event("delivered").flatMap({ Int(foreign: $0) }) else { return .nothing }
            ended(chunk, delivered: delivered)
        case "job.refused":
            return .refused(chunk, reason: "\(event("field") ?? ""): \(event("reason") ?? "")")
        default: return .nothing
        }
        return .outcome
    }

    /// Closes an open chunk whose job is finished, and returns its verdicts in the order of the tokens. Returns nil
    /// if the chunk is not open or if its job is not finished.
    mutating func close(_ chunk: Int) -> [(token: String, verdict: ScreeningVerdict)]? {
        guard let tokens = chunks[chunk]?.tokens, let facts = chunkFacts[chunk],
            let delivered = facts.delivered
        else { return nil }
        chunks[chunk] = nil
        chunkFacts[chunk] = nil
        openTokens -= tokens.count
        done.insert(contentsOf: chunk..<chunk + 1)
        let failed = tokens.count { facts.tokens[$0] != nil }
        let unmentioned: ScreeningVerdict =
            tokens.count - failed == delivered ? .good : .undecided(reason: "unseen", cause: nil)
        return tokens.map { ($0, facts.tokens[$0].map(verdict) ?? unmentioned) }
    }

    private func verdict(_ facts: TokenFacts) -> ScreeningVerdict {
        if let reason = facts.invalid {
            return .invalid(reason: reason, time: facts.since, wasKnown: false)
        }
        guard let (reason, cause) = facts.failure else { return .undecided(reason: "unknown", cause: nil) }
        guard reason == "suppressed" else { return .undecided(reason: reason, cause: cause) }
        return .invalid(reason: cause ?? reason, time: facts.since, wasKnown: true)
    }

    private mutating func note(
        _ event: (String) -> String?, _ chunk: Int, _ change: (inout TokenFacts) -> Void
    ) {
        guard let token = event("token") else { return }
        var facts = chunkFacts[chunk]?.tokens[token] ?? TokenFacts()
        facts.since = ((event("timestamp") ?? event("at")).flatMap { Int64(foreign: $0) } ?? 0) / 1000
        change(&facts)
        chunkFacts[chunk, default: ChunkFacts()].tokens[token] = facts
    }

    private func number(_ id: String) -> Int? {
        let start = "\(ScreeningJob.prefix)\(run)."
        return id.hasPrefix(start) ? Int(foreign: id.dropFirst(start.count)) : nil
    }
}
