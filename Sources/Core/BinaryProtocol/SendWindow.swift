import DequeModule
package import FarmPolicy

/// Pushes written to a gateway that answers only what it refuses, and not yet known to be safe: in the order of writing, by
/// identifiers that count up from one push to the next.
///
/// What proves a push safe: a reply that names a later one, or a time of quiet after the gateway has read it. Is
/// given the bytes that have left and the time; owns no socket and no clock. Bounded in number and in bytes: when it is
/// full, writing stops.
package struct SendWindow: ~Copyable {
    private struct Entry {
        var ticket: UInt64
        /// Bytes of the connection up to the end of its frame.
        var end: UInt64
    }

    /// Everything up to `end` had left by `leftAt`.
    private struct Mark {
        var end: UInt64
        var leftAt: Instant
        /// The peer has read it since; nil: not known yet.
        var arrivedAt: Instant?
    }

    /// What a reply says about the pushes of the window, the oldest first. What comes after the safe ones, and after the
    /// culprit, was not looked at by the gateway.
    package enum Judgement: Hashable, Sendable {
        /// So many are safe; the one after them was refused.
        case refused(safe: Int, delay: Duration?)
        /// So many are safe: the gateway goes away after the last of them.
        case lastAccepted(safe: Int)
        /// The push that it names had been taken for safe: nothing of the window was accepted. So many had been taken for safe
        /// wrongly: those behind it, and itself if it is blamed.
        case late(wronglySafe: Int)
        /// It names no push of ours: nothing can be concluded.
        case foreign
    }

    package let longestBytes: Int
    /// The most pushes that it may hold; may change at any time.
    package var longest: Int
    /// Marks nearer to each other than this are one: so many of them there are at most.
    private static let grain = Duration.milliseconds(4)

    private var entries = Deque<Entry>()
    private var marks = Deque<Mark>()
    /// Of the oldest push; of the next one, if there is none.
    private var firstIdentifier: UInt32
    private var nextIdentifier: UInt32
    /// Bytes of all frames so far, of those that left, and of those that are not in the window any more.
    package private(set) var written: UInt64 = 0
    private var left: UInt64 = 0
    private var settled: UInt64 = 0
    /// Pushes that were taken out.
    private var popped = 0

    /// - Parameter firstIdentifier: not 0, which gateways use for want of a better one.
    package init(longest: Int, longestBytes: Int, firstIdentifier: UInt32 = 1) {
        precondition(firstIdentifier != 0, "identifier 0 names no push")
        self.longest = longest
        self.longestBytes = longestBytes
        self.firstIdentifier = firstIdentifier
        nextIdentifier = firstIdentifier
    }

    package var count: Int { entries.count }
    package var isEmpty: Bool { entries.isEmpty }
    /// Bytes of the frames in it.
    package var bytes: Int { Int(written - settled) }
    /// Pushes that may be added now.
    package var room: Int { bytes < longestBytes ? max(0, longest - entries.count) : 0 }

    // MARK: Writing

    /// A push is written, with a frame of `length` bytes that carries the identifier ``next``.
    package mutating func add(_ ticket: UInt64, length: Int) {
        written += UInt64(length)
        entries.append(Entry(ticket: ticket, end: written))
        nextIdentifier = Self.after(nextIdentifier)
    }

    /// The identifier of the next push.
    package var next: UInt32 { nextIdentifier }

    /// The first `total` bytes of the connection have left this process.
    ///
    /// - Returns: whether they are more than before.
    @discardableResult
    package mutating func left(_ total: UInt64, at now: Instant) -> Bool {
        guard total > left else { return false }
        left = total
        if let last = marks.indices.last, marks[last].arrivedAt == nil, now - marks[last].leftAt < Self.grain
        {
            marks[last].end = total
        } else {
            marks.append(Mark(end: total, leftAt: now, arrivedAt: nil))
        }
        return true
    }

    /// Of what has left, the peer has not read `unread` bytes. More than there are, because TLS adds some, does no harm.
    ///
    /// - Returns: whether more has arrived than before.
    @discardableResult
    package mutating func arrived(allBut unread: Int, at now: Instant) -> Bool {
        arrived(upTo: left > UInt64(unread) ? left - UInt64(unread) : 0, at: now)
    }

    /// The peer has read the first `end` bytes of the connection.
    ///
    /// - Returns: whether more has arrived than before.
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

    /// Some of what has left has not arrived, as far as is known.
    package var isUnderWay: Bool { marks.last.map { $0.arrivedAt == nil } ?? false }

    /// Everything that was written has left.
    package var hasLeft: Bool { left == written }

    /// Everything that was written has left and arrived.
    package var hasArrived: Bool { hasLeft && marks.last?.arrivedAt != nil || entries.isEmpty }

    // MARK: Outcomes

    /// How many of the oldest are safe because nothing was heard for `quiet` since they arrived.
    package mutating func safe(after quiet: Duration, at now: Instant) -> Int {
        var end: UInt64 = 0
        while let first = marks.first, let arrivedAt = first.arrivedAt, now - arrivedAt >= quiet {
            end = first.end
            marks.removeFirst()
        }
        return end == 0 ? 0 : count(upTo: end)
    }

    /// The quiet of all that has arrived begins again: the process did not read meanwhile.
    package mutating func restartQuiet(at now: Instant) {
        for index in marks.indices where marks[index].arrivedAt != nil { marks[index].arrivedAt = now }
    }

    /// From when on ``safe(after:at:)`` finds something; nil: not before more has left or arrived.
    package func nextSafe(after quiet: Duration) -> Instant? {
        marks.first.flatMap { $0.arrivedAt }?.advanced(by: quiet)
    }

    /// Where the frame of a push of the window ends, in bytes of the connection; nil: no push of the window has the identifier.
    package func end(of identifier: UInt32) -> UInt64? { index(of: identifier).map { entries[$0].end } }

    /// Judges a reply that blames the push `identifier`.
    ///
    /// The identifier proves that its frame has left, though the count of bytes that left may be behind: ``left(_:at:)`` is
    /// called later than a gateway can reply.
    package func refused(_ identifier: UInt32, at now: Instant) -> Judgement {
        guard let index = index(of: identifier) else { return late(identifier, isBlamed: true) }
        let end = entries[index].end
        let arrivedAt = marks.first { $0.end >= end }.map { $0.arrivedAt ?? $0.leftAt }
        return .refused(safe: index, delay: arrivedAt.map { now - $0 })
    }

    /// Judges a reply that names `identifier` as the last that was accepted. As in ``refused(_:at:)``, the identifier proves
    /// that its frame has left.
    package func lastAccepted(_ identifier: UInt32) -> Judgement {
        if let index = index(of: identifier) { return .lastAccepted(safe: index + 1) }
        // The one before the oldest: nothing of the window was accepted.
        if popped > 0, identifier == Self.before(firstIdentifier) { return .lastAccepted(safe: 0) }
        return late(identifier, isBlamed: false)
    }

    /// How many of the oldest have left whole: the gateway may have accepted them. The others never had the chance.
    package var whole: Int { count(upTo: left) }

    /// The push that was added last, if it is still there.
    package var last: UInt64? { entries.last?.ticket }

    /// Takes the oldest push out.
    package mutating func popFirst() -> UInt64? {
        guard let entry = entries.popFirst() else { return nil }
        settled = entry.end
        firstIdentifier = Self.after(firstIdentifier)
        popped += 1
        return entry.ticket
    }

    /// Pushes whose frames end within the first `end` bytes: the ends go up, so halving finds the place.
    private func count(upTo end: UInt64) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].end <= end { low = middle + 1 } else { high = middle }
        }
        return low
    }

    // MARK: Identifiers

    /// Where the push is, the oldest being 0; identifiers go from 1 to the greatest and on with 1.
    private func index(of identifier: UInt32) -> Int? {
        guard identifier != 0 else { return nil }
        let distance =
            identifier >= firstIdentifier
            ? identifier - firstIdentifier : UInt32.max - firstIdentifier + identifier
        return Int(distance) < entries.count ? Int(distance) : nil
    }

    /// A reply about a push that is not in the window any more.
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
