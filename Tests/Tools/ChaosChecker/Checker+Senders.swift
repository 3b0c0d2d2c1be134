/// Checks that each shard has one sender at a time.
///
/// When a shard moves to another worker, its pushes use another connection. The shard cannot return to the first connection
/// in less than ``Checker/handOver``. If two connections alternate for one shard, two workers sent at the same time, and a token
/// could have two open streams.
extension Checker {
    /// The time in milliseconds that a shard needs at least to move to another host and back.
    static let handOver: Int64 = 5_000

    mutating func checkSenders() {
        var shards: [Int: Senders] = [:]
        for note in evidence.gateway {
            guard let shard = evidence.shards[note.token] else { continue }
            guard let other = shards[shard, default: Senders(note)].take(note) else { continue }
            verdict.overlaps += 1
            if expectation.hasOneSender {
                verdict.complain(
                    .senders,
                    "shard \(shard) at \(note.at): connections \(note.connection) and \(other) by turns")
            }
        }
    }

    /// The connections that sent for a shard.
    private struct Senders {
        private var current: Int
        /// For each connection: the last time at which another connection replaced it as the current sender.
        private var left: [Int: Int64] = [:]
        /// For each connection that sent again within ``Checker/handOver``: the connection that sent before the
        /// return.
        private var returns: [Int: Int] = [:]

        init(_ note: GatewayNote) { current = note.connection }

        /// - Returns: the other connection if this request shows that both connections were in use at the same time.
        mutating func take(_ note: GatewayNote) -> Int? {
            guard note.connection != current else { return nil }
            let former = current
            left[former] = note.at
            current = note.connection
            guard let time = left[current], note.at - time < Checker.handOver else { return nil }
            // One return proves nothing: a shard also returns to the first connection if the worker that took the shard over has
            // died. Only if both connections have returned, two living workers send for the shard.
            defer { returns[current] = former }
            return returns[former] == current ? former : nil
        }
    }
}
