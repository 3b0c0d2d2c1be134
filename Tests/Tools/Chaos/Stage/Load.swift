import ChaosChecker
import FarmHarness
import RandomTesting

/// Makes jobs. Several jobs have the same token, so that the checker can check the order of their pushes.
struct Load {
    /// The share of unregistered tokens, in percent.
    var deadShare = 2
    /// The share of jobs with at-most-once delivery, in percent.
    var atMostOnceShare = 5
    var bulkShare = 10
    private let name: String
    private let tokens: [String]
    private var random: SplitMix
    private var count = 0

    init(_ name: String, tokens: Int, seed: UInt64) {
        self.name = name
        let dead = tokens * deadShare / 100
        self.tokens =
            Tokens.make(tokens - dead, start: "a0", seed: seed)
            + Tokens.make(dead, start: "dead0000", seed: seed &+ 1)
        random = SplitMix(seed: seed)
    }

    /// - Parameter deadline: in milliseconds since 1970.
    mutating func job(_ size: Int, named given: String? = nil, deadline: Int64? = nil) -> (
        Job, ProducerNote.Promise
    ) {
        count += 1
        let id = given ?? "\(name)-\(count)"
        // The tokens of a job are a range of all tokens; after the last token, the range continues with the first token.
        let start = Int.random(in: tokens.indices, using: &random)
        let chosen = (0..<min(size, tokens.count)).map { tokens[(start + $0) % tokens.count] }
        var promise = ProducerNote.Promise(tokens: chosen)
        promise.atMostOnce = draw(atMostOnceShare)
        promise.allReceipts = draw(20)
        let isBulk = draw(bulkShare)
        promise.isOrdered = !isBulk
        promise.deadline = deadline
        var fields = [#""collapse_id":"\#(id)""#]
        if promise.atMostOnce { fields.append(#""delivery":"at-most-once""#) }
        if promise.allReceipts { fields.append(#""receipts":"all""#) }
        if let deadline { fields.append(#""expires_at":\#(deadline / 1000)"#) }
        if isBulk { fields.append(#""lane":"bulk""#) }
        return (Job(id: id, tokens: chosen, fields: fields.joined(separator: ",")), promise)
    }

    private mutating func draw(_ share: Int) -> Bool { Int.random(in: 0..<100, using: &random) < share }
}
