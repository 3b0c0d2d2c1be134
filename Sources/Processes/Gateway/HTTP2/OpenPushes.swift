import FarmPolicy

/// The pushes that a connection has open, by slot: the number under which HTTP/2 and the deadlines know them.
struct OpenPushes {
    private struct Entry {
        var ticket = PushTicket(batch: 0, position: 0)
        var stream: Int32 = 0
        /// Of the slot's use.
        var generation: UInt32 = 0
        /// The generation of the credentials that it was sent with.
        var credentials: UInt32 = 0
        /// Milliseconds since the connection began.
        var sentAt: UInt32 = 0
        /// The deadline has ended the push; only the stream is still to close.
        var isAbandoned = false
    }

    private var entries: [Entry] = []
    private var free: [Int] = []

    /// Gives a push a slot.
    ///
    /// - Parameter sentAt: milliseconds since the connection began.
    mutating func add(
        _ ticket: PushTicket, credentials: UInt32, sentAt: UInt32 = 0
    ) -> RequestDeadlines.Request {
        let slot: Int
        if let last = free.popLast() {
            slot = last
        } else {
            slot = entries.count
            entries.append(Entry())
        }
        entries[slot].ticket = ticket
        entries[slot].credentials = credentials
        entries[slot].sentAt = sentAt
        entries[slot].generation &+= 1
        entries[slot].isAbandoned = false
        return RequestDeadlines.Request(slot: slot, generation: entries[slot].generation)
    }

    func sentAt(of slot: Int) -> UInt32 { entries[slot].sentAt }

    func credentials(of slot: Int) -> UInt32 { entries[slot].credentials }

    func stream(of slot: Int) -> Int32 { entries[slot].stream }

    mutating func set(stream: Int32, of slot: Int) { entries[slot].stream = stream }

    /// The push has its outcome before its stream is closed: the slot stays taken until then.
    mutating func abandon(_ slot: Int) -> PushTicket {
        entries[slot].isAbandoned = true
        return entries[slot].ticket
    }

    /// Frees the slot of a closed stream.
    /// - Returns: the push, unless it had its outcome before.
    @discardableResult
    mutating func remove(_ slot: Int) -> (ticket: PushTicket, request: RequestDeadlines.Request)? {
        let entry = entries[slot]
        free.append(slot)
        guard !entry.isAbandoned else { return nil }
        return (entry.ticket, RequestDeadlines.Request(slot: slot, generation: entry.generation))
    }
}

/// Milliseconds since a start, for pushes: worked out once for all that share a moment.
struct MillisecondClock {
    private let start: ContinuousClock.Instant
    private var moment: ContinuousClock.Instant
    /// What was read last; it wraps after 49 days, and so do differences.
    private(set) var last: UInt32 = 0

    init(start: ContinuousClock.Instant) { (self.start, moment) = (start, start) }

    mutating func read(_ now: ContinuousClock.Instant) -> UInt32 {
        guard now != moment else { return last }
        moment = now
        let (seconds, attoseconds) = (now - start).components
        last = UInt32(truncatingIfNeeded: seconds * 1000 + attoseconds / 1_000_000_000_000_000)
        return last
    }
}
