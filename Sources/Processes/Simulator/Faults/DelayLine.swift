import EventLoop

/// Delayed responses, grouped by the millisecond in which they are due.
struct DelayLine {
    struct Waiting {
        let connection: Int64
        let stream: Int32
        let reply: Reply
        let id: EchoedID
    }

    private var rows: [UInt64: [Waiting]] = [:]
    /// The due times of the groups, soonest first.
    private var times: [UInt64] = []

    /// The next due time in milliseconds of the loop's clock; nil if no response is delayed.
    var nextDue: UInt64? { times.first }

    mutating func add(_ waiting: Waiting, due: UInt64) {
        rows[due, default: []].append(waiting)
        guard rows.count > times.count else { return }
        times.insert(due, at: (times.lastIndex { $0 < due } ?? -1) + 1)
    }

    /// Removes and returns the earliest group if it is due. The responses of a group are in the order in which they were added.
    mutating func takeDue(_ now: UInt64) -> [Waiting]? {
        guard let due = times.first, due <= now else { return nil }
        times.removeFirst()
        return rows.removeValue(forKey: due)
    }
}

/// Sends delayed responses when they are due.
@Loop final class DelayedResponses {
    private var line = DelayLine()
    private let send: @Loop (DelayLine.Waiting) -> Void
    private lazy var timer = Timer { [unowned self] in sendDue() }

    init(send: @escaping @Loop (DelayLine.Waiting) -> Void) { self.send = send }

    /// - Parameter due: the due time by the loop's clock.
    func add(_ waiting: DelayLine.Waiting, due: UInt64) {
        let isSoonest = line.nextDue.map { due < $0 } ?? true
        line.add(waiting, due: due)
        if isSoonest { timer.start(at: due) }
    }

    func stop() { timer.stop() }

    private func sendDue() {
        while let row = line.takeDue(Loop.milliseconds) { row.forEach(send) }
        if let due = line.nextDue { timer.start(at: due) }
    }
}
