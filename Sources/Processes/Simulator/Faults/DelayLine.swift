/// Answers that are delayed, grouped by the millisecond when they are due.
struct DelayLine {
    struct Waiting {
        let connection: Int64
        let stream: Int32
        let reply: Reply
        let id: EchoedID
    }

    private var rows: [UInt64: [Waiting]] = [:]
    /// The rows' times, soonest first.
    private var times: [UInt64] = []

    /// Milliseconds of the loop's clock.
    var nextDue: UInt64? { times.first }

    mutating func add(_ waiting: Waiting, due: UInt64) {
        rows[due, default: []].append(waiting)
        guard rows.count > times.count else { return }
        times.insert(due, at: (times.lastIndex { $0 < due } ?? -1) + 1)
    }

    /// The answers that are due first, if they are due, in the order in which they were added.
    mutating func takeDue(_ now: UInt64) -> [Waiting]? {
        guard let due = times.first, due <= now else { return nil }
        times.removeFirst()
        return rows.removeValue(forKey: due)
    }
}
