import DequeModule
package import FarmPolicy

/// Pushes that were written to a binary gateway and are not yet known to be accepted. The window keeps the pushes in the order of
/// writing. The identifiers of the pushes count up by one.
///
/// A push is safe when it is certainly accepted: when a reply names a later push, or after a quiet time that begins when the
/// gateway has read the push. The caller passes in the number of sent bytes and the time, because the window owns no socket and
/// no clock. The pushes and the bytes in the window are limited. When the window is full, writing stops.
package struct SendWindow: ~Copyable {
    private struct Entry {
        var ticket: UInt64
        /// The number of bytes of the connection up to the end of the push's frame.
        var end: UInt64
    }

    /// A point of the byte stream: all bytes up to `end` had been sent at the time `sentAt`, or at most ``grain`` later.
    private struct Mark {
        var end: UInt64
        var sentAt: Instant
        /// When the peer had read the bytes up to `end`; nil while unknown.
        var arrivedAt: Instant?
    }

    /// What a reply proves about the pushes of the window, oldest first. The gateway did not process the pushes that follow the
    /// safe pushes and the refused push.
    package enum Judgement: Hashable, Sendable {
        /// The oldest `safe` pushes are safe, and the next push was refused.
        case refused(safe: Int, delay: Duration?)
        /// The oldest `safe` pushes are safe, and the gateway closes the connection after the last safe push.
        case lastAccepted(safe: Int)
        /// The named push already counted as safe, so no push of the window was accepted. `wronglySafe` is the number of pushes
        /// that wrongly counted as safe: the pushes after the named push, and the named push itself if it was refused.
        case late(wronglySafe: Int)
        /// The reply names no push of this connection and proves nothing.
        case foreign
    }

    package let longestBytes: Int
    /// The maximum number of pushes in the window; may change at any time.
    package var longest: Int
    /// Marks that are closer together than this time are merged, which limits the number of marks.
    private static let grain = Duration.milliseconds(4)

    private var entries = Deque<Entry>()
    private var marks = Deque<Mark>()
    /// The identifier of the oldest push, or of the next push when the window is empty.
    private var firstIdentifier: UInt32
    private var nextIdentifier: UInt32
    /// The number of bytes of all frames written so far. `sent` is the number of bytes that have left this process; `settled` is
    /// the number of bytes whose pushes were removed from the window.
    package private(set) var written: UInt64 = 0
    private var sent: UInt64 = 0
    private var settled: UInt64 = 0
    /// The number of pushes that were removed from the window.
    private var popped = 0

    /// - Parameter firstIdentifier: not 0, because gateways use 0 when they know no identifier.
    package init(longest: Int, longestBytes: Int, firstIdentifier: UInt32 = 1) {
        precondition(firstIdentifier != 0, "identifier 0 names no push")
        self.longest = longest
        self.longestBytes = longestBytes
        self.firstIdentifier = firstIdentifier
        nextIdentifier = firstIdentifier
    }

    package var count: Int { entries.count }
    package var isEmpty: Bool { entries.isEmpty }
    /// The number of bytes of the frames in the window.
    package var bytes: Int { Int(written - settled) }
    /// The number of pushes that may be added now.
    package var room: Int { bytes < longestBytes ? max(0, longest - entries.count) : 0 }

    // MARK: Writing

    /// Adds a push that is written with a frame of `length` bytes and the identifier ``next``.
    package mutating func add(_ ticket: UInt64, length: Int) {
        written += UInt64(length)
        entries.append(Entry(ticket: ticket, end: written))
        nextIdentifier = Self.after(nextIdentifier)
    }

    /// The identifier of the next push.
    package var next: UInt32 { nextIdentifier }

    /// Notes that the first `total` bytes of the connection have left this process.
    ///
    /// - Returns: whether the number has grown.
    @discardableResult
    package mutating func sent(upTo total: UInt64, at now: Instant) -> Bool {
        guard total > sent else { return false }
        sent = total
        if let last = marks.indices.last, marks[last].arrivedAt == nil, now - marks[last].sentAt < Self.grain
        {
            marks[last].end = total
        } else {
            marks.append(Mark(end: total, sentAt: now, arrivedAt: nil))
        }
        return true
    }

    /// Notes that the peer has read all sent bytes except the last `unread`. `unread` may also count the bytes that TLS adds;
    /// then the peer has read more than the method assumes.
    ///
    /// - Returns: whether more bytes have arrived than before.
    @discardableResult
    package mutating func arrived(allBut unread: Int, at now: Instant) -> Bool {
        arrived(upTo: sent > UInt64(unread) ? sent - UInt64(unread) : 0, at: now)
    }

    /// Notes that the peer has read the first `end` bytes of the connection.
    ///
    /// - Returns: whether more bytes have arrived than before.
    @discardableResult
    package mutating func arrived(upTo end: UInt64, at now: Instant) -> Bool {
        var isMore = false
        for index in marks.indices where marks[index].arrivedAt == nil {
            guard marks[index].end <= end else { break }
            marks[index].arrivedAt = now
            isMore = true
        }
        return isMore
    }

    /// Whether there are sent bytes that the peer has possibly not read yet.
    package var isUnderWay: Bool { marks.last.map { $0.arrivedAt == nil } ?? false }

    /// Whether all bytes that were written to the connection have left this process.
    package var isAllSent: Bool { sent == written }

    /// Whether the peer has read all written bytes, or the window is empty.
    package var hasArrived: Bool { isAllSent && marks.last?.arrivedAt != nil || entries.isEmpty }

    // MARK: Outcomes

    /// Returns how many of the oldest pushes are safe because the peer sent no reply for the time `quiet` after the peer had
    /// read the pushes.
    package mutating func safe(after quiet: Duration, at now: Instant) -> Int {
        var end: UInt64 = 0
        while let first = marks.first, let arrivedAt = first.arrivedAt, now - arrivedAt >= quiet {
            end = first.end
            marks.removeFirst()
        }
        return end == 0 ? 0 : count(upTo: end)
    }

    /// Restarts the quiet time of all pushes that the peer has read, because the process could not read replies for a while.
    package mutating func restartQuiet(at now: Instant) {
        for index in marks.indices where marks[index].arrivedAt != nil { marks[index].arrivedAt = now }
    }

    /// Returns when ``safe(after:at:)`` can first find a safe push; nil if more bytes must leave this process or be read by the
    /// peer first.
    package func nextSafe(after quiet: Duration) -> Instant? {
        marks.first.flatMap { $0.arrivedAt }?.advanced(by: quiet)
    }

    /// Returns where the frame of a push ends, in bytes of the connection; nil when no push of the window has the identifier.
    package func end(of identifier: UInt32) -> UInt64? { index(of: identifier).map { entries[$0].end } }

    /// Judges a reply that says that the push `identifier` was refused.
    ///
    /// The identifier in the reply proves that the push's frame was sent. The count of sent bytes may not include the frame
    /// yet, because the gateway can reply before ``sent(upTo:at:)`` is called.
    package func refused(_ identifier: UInt32, at now: Instant) -> Judgement {
        guard let index = index(of: identifier) else { return late(identifier, isBlamed: true) }
        let end = entries[index].end
        let arrivedAt = marks.first { $0.end >= end }.map { $0.arrivedAt ?? $0.sentAt }
        return .refused(safe: index, delay: arrivedAt.map { now - $0 })
    }

    /// Judges a reply that names `identifier` as the last accepted push. The identifier proves that the push's frame was sent, as
    /// in ``refused(_:at:)``.
    package func lastAccepted(_ identifier: UInt32) -> Judgement {
        if let index = index(of: identifier) { return .lastAccepted(safe: index + 1) }
        // The reply names the last push that left the window, so no push of the window was accepted.
        if popped > 0, identifier == Self.before(firstIdentifier) { return .lastAccepted(safe: 0) }
        return late(identifier, isBlamed: false)
    }

    /// The number of pushes whose frames were sent completely. These pushes are the oldest pushes of the window. The gateway
    /// cannot have accepted any other push of the window.
    package var whole: Int { count(upTo: sent) }

    /// The push that was added last; nil when the window is empty.
    package var last: UInt64? { entries.last?.ticket }

    /// Removes and returns the oldest push.
    package mutating func popFirst() -> UInt64? {
        guard let entry = entries.popFirst() else { return nil }
        settled = entry.end
        firstIdentifier = Self.after(firstIdentifier)
        popped += 1
        return entry.ticket
    }

    /// Counts the pushes whose frames end within the first `end` bytes, by binary search over the ascending
    /// ends.
    private func count(upTo end: UInt64) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].end <= end { low = middle + 1 } else { high = middle }
        }
        return low
    }

    // MARK: Identifiers

    /// Returns the position of a push, counted from the oldest at 0. After the greatest identifier, numbering
    /// continues with 1.
    private func index(of identifier: UInt32) -> Int? {
        guard identifier != 0 else { return nil }
        let distance =
            identifier >= firstIdentifier
            ? identifier - firstIdentifier : UInt32.max - firstIdentifier + identifier
        return Int(distance) < entries.count ? Int(distance) : nil
    }

    /// Judges a reply about a push that has left the window.
    private func late(_ identifier: UInt32, isBlamed: Bool) -> Judgement {
        guard identifier != 0 else { return .foreign }
        let distance =
            firstIdentifier > identifier
            ? firstIdentifier - identifier : UInt32.max - identifier + firstIdentifier
        guard Int(distance) <= popped else { return .foreign }
        return .late(wronglySafe: isBlamed ? Int(distance) : Int(distance) - 1)
    }

    private static func after(_ identifier: UInt32) -> UInt32 { identifier == .max ? 1 : identifier + 1 }
    private static func before(_ identifier: UInt32) -> UInt32 { identifier == 1 ? .max : identifier - 1 }
}
