/// Checks that each shard has one sender at a time.
///
/// A shard that goes to another worker goes to another connection, and nothing comes over the former one again unless the shard
/// was given back, which takes longer than ``Checker/handOver``. When both connections carry requests for one shard by
/// turns, two workers sent at the same time, and a token might have two streams open.
extension Checker {
    /// Milliseconds, less than a shard needs to move to another host and back.
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
        /// When a connection was followed by another one.
        private var left: [Int: Int64] = [:]
        /// Whom a connection took over from again.
        private var returns: [Int: Int] = [:]

        init(_ note: GatewayNote) { current = note.connection }

        /// - Returns: the other connection, when this request shows that both were in use.
        mutating func take(_ note: GatewayNote) -> Int? {
            guard note.connection != current else { return nil }
            let former = current
            left[former] = note.at
            current = note.connection
            guard let time = left[current], note.at - time < Checker.handOver else { return nil }
            // One return may be a shard that came back from a dead worker; after two returns both workers live.
            defer { returns[current] = former }
            return returns[former] == current ? former : nil
        }
    }
}
