/// The timeouts of the requests in flight: one list by age, threaded through one entry a slot.
///
/// All requests have the same time-out, so the oldest is the next to expire. Every call is O(1), the storage
/// is bounded by the number of slots and reused, and an answered request leaves no trace.
package struct RequestDeadlines: ~Copyable, Sendable {
    package typealias Instant = ContinuousClock.Instant

    /// A use of a slot. A slot's next use has another generation.
    package struct Request: Hashable, Sendable {
        package let slot: Int
        package let generation: UInt32

        package init(slot: Int, generation: UInt32) {
            self.slot = slot
            self.generation = generation
        }
    }

    private struct Entry {
        var sentAt: Instant
        var generation: UInt32
        var older: Int32
        var newer: Int32
        var isWaiting: Bool
    }

    private static let none: Int32 = -1

    private let timeout: Duration
    private var entries: [Entry]
    private var oldest = none
    private var newest = none
    package private(set) var count = 0

    package init(slots: Int, timeout: Duration, start: Instant) {
        let unused = Entry(sentAt: start, generation: 0, older: Self.none, newer: Self.none, isWaiting: false)
        entries = Array(repeating: unused, count: slots)
        self.timeout = timeout
    }

    /// When ``expire(at:)`` can next have something to give; nil: nothing waits.
    package var next: Instant? {
        oldest == Self.none ? nil : entries[Int(oldest)].sentAt.advanced(by: timeout)
    }

    /// A request was sent; requests are added in the order of their times.
    package mutating func add(_ request: Request, sentAt: Instant) {
        precondition(!entries[request.slot].isWaiting, "slot \(request.slot) added twice")
        entries[request.slot] = Entry(
            sentAt: sentAt, generation: request.generation, older: newest, newer: Self.none, isWaiting: true)
        if newest == Self.none {
            oldest = Int32(request.slot)
        } else {
            entries[Int(newest)].newer = Int32(request.slot)
        }
        newest = Int32(request.slot)
        count += 1
    }

    /// A request was answered or given up.
    ///
    /// - Returns: whether it was waiting; an expired one, or an earlier use of the slot, is not.
    @discardableResult
    package mutating func remove(_ request: Request) -> Bool {
        let entry = entries[request.slot]
        guard entry.isWaiting, entry.generation == request.generation else { return false }
        entries[request.slot].isWaiting = false
        if entry.older == Self.none {
            oldest = entry.newer
        } else {
            entries[Int(entry.older)].newer = entry.newer
        }
        if entry.newer == Self.none {
            newest = entry.older
        } else {
            entries[Int(entry.newer)].older = entry.older
        }
        count -= 1
        return true
    }

    /// Takes the oldest request out if its time is over; to be called until it gives nil.
    package mutating func expire(at now: Instant) -> Request? {
        guard let next, next <= now else { return nil }
        let request = Request(slot: Int(oldest), generation: entries[Int(oldest)].generation)
        remove(request)
        return request
    }
}
