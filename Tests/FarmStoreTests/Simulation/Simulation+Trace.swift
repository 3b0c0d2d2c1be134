import RedisProtocol

@testable import RedisClient
@testable import StoreProtocol

/// Requests and answers in words, for whoever looks for the cause of a fault.
extension Simulation {
    func told<Step: Request>(_ request: Step) -> String {
        guard trace != nil else { return "" }
        switch request {
        case let one as Checkout:
            return
                "\(one.worker) checks out: credit \(one.credit), known \(one.known.map { "\($0)" } ?? "-"), \(one.shards.map { "\($0.number) \(String(decoding: $0.token.bytes, as: UTF8.self))" })"
        case let one as Report:
            return
                "\(one.worker) reports \(one.batch) delivery \(one.delivery) wants \(one.wanted) facts \(one.isFactsOnly) runs \(one.runs.bytes)"
        case let one as Split:
            return
                "split step \(one.step) drops \(one.dropped) head \(one.head.map { "\($0)" } ?? "-") jobs \(one.jobs.map { "\($0.id) \($0.opens)" }) batches \(one.batches.map { "\($0.shard) \($0.tokens)" })"
        case let one as Settle: return "settle \(one.settlements.map { "\($0.entry) \($0.jobs.map(\.id))" })"
        case let one as Refuse: return "refuse step \(one.step) \(one.job ?? "")"
        case let one as Take: return "take, known \(one.known), at most \(one.maxJobs)"
        case let one as Submit: return "submit \(String(decoding: one.job.prefix(10), as: UTF8.self))"
        case is ReadResults, is ClaimResults, is Promote: return "\(Step.self)"
        case let one as Reclaim:
            return "reclaim \(one.workers) \(one.loss) of \(one.shards.map(\.number))"
        case let one as RenewLeases: return "renew \(one.nonce) \(one.fields.map(\.name))"
        case let one as AcquireLeases:
            return "acquire \(one.nonce) after \(one.predecessor) \(one.fields.map(\.name))"
        default: return "\(request)"
        }
    }

    func told(_ value: RESPValue) -> String {
        guard trace != nil else { return "" }
        if let integer = value.integer { return "\(integer)" }
        if let error = value.error { return "\(error)" }
        if let parts = value.array { return "[" + parts.map(told).joined(separator: ", ") + "]" }
        guard let bytes = value.bytes else { return "nil" }
        let text = bytes.prefix(60).map { $0 < 32 || $0 > 126 ? "?" : String(UnicodeScalar($0)) }.joined()
        return text + (bytes.count > 60 ? "…" : "")
    }
}
