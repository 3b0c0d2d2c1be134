/// When Redis has so little room left that producers must wait, and when they may come again.
///
/// Full at the upper mark. Relieved below the lower one, or after it has been below the upper one for a while: what
/// is kept for days may alone be more than the lower mark.
package struct AdmissionPolicy: Sendable {
    /// What memory is used for, in bytes.
    package struct Reading: Sendable, Equatable {
        /// As Redis compares it with its limit.
        package var used: Int
        /// 0: none is known.
        package var limit: Int
        /// Pushes in batches and results, of all apps.
        package var open: Int

        package init(used: Int, limit: Int, open: Int) {
            (self.used, self.limit, self.open) = (used, limit, open)
        }
    }

    package enum Memory: Sendable, Equatable {
        case full, relieved
        /// As it was.
        case keep
    }

    package struct Decision: Sendable, Equatable {
        package var memory: Memory
        /// What is taken in has its share: jobs stay in the inbox, but for a trickle.
        package var isHeld: Bool

        package init(memory: Memory, isHeld: Bool) { (self.memory, self.isHeld) = (memory, isHeld) }
    }

    /// In percent of the limit.
    package static let upper = 70
    package static let lower = 60
    /// Of which pushes that are taken in may have so much.
    package static let taken = 50
    /// Below the upper mark, until it counts as relieved.
    package static let gracePeriod: UInt64 = 30_000
    /// What a push takes that is taken in: the budget, not the average.
    package static let pushBytes = 80

    /// Since when it has been between the marks.
    private var betweenSince: UInt64?
    private var isHeld = false

    package init() {}

    /// - Parameter now: milliseconds on any clock that does not go back.
    package mutating func decide(_ reading: Reading, now: UInt64) -> Decision {
        let taken = Self.share(Double(reading.open) * Double(Self.pushBytes), of: reading)
        isHeld = taken >= (isHeld ? Self.taken * 9 / 10 : Self.taken)
        return Decision(memory: memory(reading, now: now), isHeld: isHeld)
    }

    private mutating func memory(_ reading: Reading, now: UInt64) -> Memory {
        let share = Self.share(Double(reading.used), of: reading)
        guard share >= Self.lower, share < Self.upper else {
            betweenSince = nil
            return share < Self.lower ? .relieved : .full
        }
        let since = betweenSince ?? now
        betweenSince = since
        return now - since >= Self.gracePeriod ? .relieved : .keep
    }

    /// In percent, rounded down.
    private static func share(_ bytes: Double, of reading: Reading) -> Int {
        reading.limit > 0 ? Int(clamping: min(bytes / Double(reading.limit), 1000) * 100) : 0
    }
}
