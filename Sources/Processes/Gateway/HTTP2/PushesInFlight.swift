import FarmPolicy

/// The open pushes of a connection, each in a numbered slot. The HTTP/2 session identifies a push by its slot number.
///
/// Pushes that await their response form a list ordered by age. All pushes have the same timeout, so the oldest
/// push is always the next to time out. Every call is O(1), and slots are reused. Times are milliseconds since the
/// connection began; they may wrap around.
struct PushesInFlight: ~Copyable {
    private enum State: UInt8 {
        case waiting
        /// The push's deadline has passed. The push gets its outcome when its stream is closed.
        case late
        /// The push has its outcome, but its stream is not closed yet.
        case abandoned
    }

    private struct Entry {
        let ticket: PushTicket
        /// The generation of the credentials that the push was sent with.
        let generation: UInt32
        let sentAt: UInt32
        var stream: Int32 = 0
        /// The slots of the next older and the next newer push in the list.
        var older: Int32
        var newer = PushesInFlight.none
        var state = State.waiting
    }

    private static let none: Int32 = -1

    private let timeout: Int
    private var entries: [Entry] = []
    private var free: [Int] = []
    private var oldest = none
    private var newest = none
    /// The number of pushes that await their response.
    private(set) var waiting = 0

    /// - Parameter timeout: the response timeout in milliseconds.
    init(timeout: UInt32) { self.timeout = Int(timeout) }

    /// Gives a push a slot. Pushes must be added in the order in which they are sent.
    mutating func add(_ ticket: PushTicket, generation: UInt32, sentAt: UInt32) -> Int {
        let entry = Entry(ticket: ticket, generation: generation, sentAt: sentAt, older: newest)
        let slot = free.popLast() ?? entries.count
        if slot == entries.count { entries.append(entry) } else { entries[slot] = entry }
        if newest == Self.none { oldest = Int32(slot) } else { entries[Int(newest)].newer = Int32(slot) }
        newest = Int32(slot)
        waiting += 1
        return slot
    }

    func sentAt(of slot: Int) -> UInt32 { entries[slot].sentAt }

    func generation(of slot: Int) -> UInt32 { entries[slot].generation }

    func stream(of slot: Int) -> Int32 { entries[slot].stream }

    mutating func set(stream: Int32, of slot: Int) { entries[slot].stream = stream }

    /// Removes the oldest push from the list if its deadline has passed, and returns its slot. The caller repeats the
    /// call until the result is nil. The slot stays in use.
    mutating func takeLate(at now: UInt32) -> Int? {
        guard oldest != Self.none else { return nil }
        let slot = Int(oldest)
        guard Int32(bitPattern: now &- entries[slot].sentAt) >= timeout else { return nil }
        unlink(slot)
        entries[slot].state = .late
        return slot
    }

    /// Gives a late push its outcome before its stream is closed.
    mutating func abandon(_ slot: Int) -> PushTicket {
        entries[slot].state = .abandoned
        return entries[slot].ticket
    }

    /// Frees the slot of a push whose stream is closed.
    /// - Returns: the push, and whether the push ended before its deadline; nil if the push already had its outcome.
    @discardableResult
    mutating func remove(_ slot: Int) -> (ticket: PushTicket, isInTime: Bool)? {
        free.append(slot)
        switch entries[slot].state {
        case .abandoned: return nil
        case .late: return (entries[slot].ticket, false)
        case .waiting:
            unlink(slot)
            return (entries[slot].ticket, true)
        }
    }

    private mutating func unlink(_ slot: Int) {
        let (older, newer) = (entries[slot].older, entries[slot].newer)
        if older == Self.none { oldest = newer } else { entries[Int(older)].newer = newer }
        if newer == Self.none { newest = older } else { entries[Int(newer)].older = older }
        waiting -= 1
    }
}

/// Measures the milliseconds since the clock was created. Pushes that are sent at the same time share one reading of
/// the clock.
struct MillisecondClock {
    private let start: Instant
    private var moment: Instant
    /// The last reading. It wraps around after 49 days, and the difference of two readings stays correct.
    private(set) var last: UInt32 = 0

    init(start: Instant) { (self.start, moment) = (start, start) }

    mutating func read(_ now: Instant) -> UInt32 {
        guard now != moment else { return last }
        moment = now
        let (seconds, attoseconds) = (now - start).components
        last = UInt32(truncatingIfNeeded: seconds * 1000 + attoseconds / 1_000_000_000_000_000)
        return last
    }
}
