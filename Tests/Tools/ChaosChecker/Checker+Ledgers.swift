/// Checks that no ledger line is missing or repeated.
extension Checker {
    mutating func checkLedgers() {
        checkStreams()
        for (before, note) in zip(evidence.notes, evidence.notes.dropFirst()) {
            if note.number != before.number + 1 || note.at < before.at {
                verdict.complain(.ledger, "observation \(note.number) follows \(before.number)")
            }
        }
        if evidence.notes.last?.jobRecords == nil {
            verdict.complain(.ledger, "no observation of the job records at the end")
        }
        verdict.observations = evidence.notes.count { $0.jobRecords != nil }
        for (before, event) in zip(evidence.events, evidence.events.dropFirst())
        where event.at < before.at && expectation.rollBacks.isEmpty {
            verdict.complain(.ledger, "events are out of order at \(event.at)")
        }
    }

    /// Checks that each connection has all its streams: a client numbers its streams 1, 3, 5, …, and the gateway
    /// notes each stream.
    private mutating func checkStreams() {
        guard expectation.streamsAreWhole else { return }
        var streams: [Int: [Int]] = [:]
        for note in evidence.gateway { streams[note.connection, default: []].append(note.stream) }
        for (connection, numbers) in streams {
            for (index, number) in numbers.sorted().enumerated() where number != 2 * index + 1 {
                verdict.complain(
                    .ledger, "connection \(connection) has stream \(number) where \(2 * index + 1) should be")
                break
            }
        }
        if let last = streams.keys.max(), last > streams.count * 20 + 1000 {
            verdict.complain(.ledger, "\(streams.count) connections are noted, numbered up to \(last)")
        }
    }
}
