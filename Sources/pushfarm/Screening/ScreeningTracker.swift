import PushModel

/// The chunks that were put in as jobs, and what events and job records have said of them. Owns no connection and no clock.
///
/// Only failures have an event; who has none was delivered. That is believed when the job has ended with exactly as many
/// delivered as are left without one: then no event was missed. It keeps what it hears of chunks that it does not have
/// yet, for they may have been put in by a process before this one.
struct ScreeningTracker {
    private struct Chunk {
        let tokens: [String]
        let since: String
    }

    /// What was heard of a token.
    private struct Hearing {
        var failure: (reason: String, cause: String?)?
        var invalid: String?
        /// Unix seconds since when it is invalid, if that was said; else when it was heard.
        var since: Int64 = 0
    }

    private struct Page {
        var heard: [String: Hearing] = [:]
        /// When the job has ended.
        var delivered: Int?
    }

    enum Update: Equatable {
        /// Of another job, or nothing to this purpose.
        case nothing
        /// Of a token, or of the chunk's whole job.
        case outcome
        /// The farm will not take the chunk's job.
        case refused(Int, reason: String)
    }

    private let run: String
    private var chunks: [Int: Chunk] = [:]
    private var pages: [Int: Page] = [:]
    private(set) var done: RangeSet<Int>
    /// Tokens of the chunks that are open.
    private(set) var openTokens = 0

    /// - Parameter done: chunks that have their outcomes.
    init(run: String, done: RangeSet<Int> = RangeSet()) { (self.run, self.done) = (run, done) }

    /// The id of a chunk's job.
    func id(of chunk: Int) -> String { "\(ScreeningJob.prefix)\(run).\(chunk)" }

    /// Chunks that are open.
    var open: [Int] { chunks.keys.sorted() }

    var isEmpty: Bool { chunks.isEmpty }

    func tokens(of chunk: Int) -> [String] { chunks[chunk]?.tokens ?? [] }

    /// Whether the job of a chunk is known to have ended.
    func hasEnded(_ chunk: Int) -> Bool { pages[chunk]?.delivered != nil }

    /// The event position before all that open chunks still need; nil when there are none.
    var since: String? { chunks.min { $0.key < $1.key }?.value.since }

    /// Whether something was heard of chunks that are not open yet: by an earlier process.
    var hasUnknownChunks: Bool { pages.keys.contains { chunks[$0] == nil } }

    /// - Parameter since: an event position before the job was put in.
    mutating func open(_ chunk: Int, _ tokens: [String], since: String) {
        chunks[chunk] = Chunk(tokens: tokens, since: since)
        openTokens += tokens.count
    }

    /// The job record of the chunk's job says that it has ended; all events of it have been read.
    mutating func ended(_ chunk: Int, delivered: Int) {
        if !done.contains(chunk) { pages[chunk, default: Page()].delivered = delivered }
    }

    /// - Parameter event: its fields by name.
    mutating func hear(_ event: (String) -> String?) -> Update {
        guard let chunk = event("job").flatMap(number), !done.contains(chunk) else { return .nothing }
        switch event("type") {
        case "push.failed":
            note(event, chunk) { $0.failure = (event("reason") ?? "unknown", event("cause")) }
        case "push.expired":
            note(event, chunk) { $0.failure = ("expired", event("cause")) }
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

    /// The verdicts of an open chunk whose job has ended, in the order of its tokens; it is done then. Nil of any other.
    mutating func close(_ chunk: Int) -> [(token: String, verdict: ScreeningVerdict)]? {
        guard let tokens = chunks[chunk]?.tokens, let page = pages[chunk], let delivered = page.delivered
        else { return nil }
        chunks[chunk] = nil
        pages[chunk] = nil
        openTokens -= tokens.count
        done.insert(contentsOf: chunk..<chunk + 1)
        let heard = tokens.count { page.heard[$0] != nil }
        let silent: ScreeningVerdict =
            tokens.count - heard == delivered ? .good : .open(reason: "unseen", cause: nil)
        return tokens.map { ($0, page.heard[$0].map(verdict) ?? silent) }
    }

    private func verdict(_ hearing: Hearing) -> ScreeningVerdict {
        if let reason = hearing.invalid {
            return .invalid(reason: reason, time: hearing.since, wasKnown: false)
        }
        guard let (reason, cause) = hearing.failure else { return .open(reason: "unknown", cause: nil) }
        guard reason == "suppressed" else { return .open(reason: reason, cause: cause) }
        return .invalid(reason: cause ?? reason, time: hearing.since, wasKnown: true)
    }

    private mutating func note(
        _ event: (String) -> String?, _ chunk: Int, _ change: (inout Hearing) -> Void
    ) {
        guard let token = event("token") else { return }
        var hearing = pages[chunk]?.heard[token] ?? Hearing()
        hearing.since = ((event("timestamp") ?? event("at")).flatMap { Int64(foreign: $0) } ?? 0) / 1000
        change(&hearing)
        pages[chunk, default: Page()].heard[token] = hearing
    }

    private func number(_ id: String) -> Int? {
        let start = "\(ScreeningJob.prefix)\(run)."
        return id.hasPrefix(start) ? Int(foreign: id.dropFirst(start.count)) : nil
    }
}
