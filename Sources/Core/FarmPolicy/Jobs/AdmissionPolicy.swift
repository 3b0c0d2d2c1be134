/// Decides when Redis has so little free memory that producers must wait, and when they may continue.
///
/// Redis counts as full when its memory use reaches the upper mark. Redis counts as relieved when its memory use falls
/// below the lower mark, or stays below the upper mark for a grace period. Without the grace period, producers could
/// wait for days, because data that Redis keeps for days, such as job records, can alone exceed the lower mark.
package struct AdmissionPolicy: Sendable {
    /// The memory use of Redis, in bytes.
    package struct Reading: Sendable, Equatable {
        /// The used memory in bytes, as Redis compares it with its memory limit.
        package var used: Int
        /// The memory limit; 0 when no limit is known.
        package var limit: Int
        /// The number of open pushes in batches and results, over all apps.
        package var open: Int

        package init(used: Int, limit: Int, open: Int) {
            (self.used, self.limit, self.open) = (used, limit, open)
        }
    }

    package enum Memory: Sendable, Equatable {
        case full, relieved
        /// Keeps the previous state.
        case keep
    }

    package struct Decision: Sendable, Equatable {
        package var memory: Memory
        /// Whether accepted pushes use all the memory that they may use. If so, the intake takes only a few jobs at a
        /// time, and all other jobs stay in the inbox.
        package var limitsIntake: Bool

        package init(memory: Memory, limitsIntake: Bool) {
            (self.memory, self.limitsIntake) = (memory, limitsIntake)
        }
    }

    /// The upper mark in percent of the memory limit.
    package static let upper = 70
    package static let lower = 60
    /// The share of the limit that accepted pushes may use, in percent.
    package static let taken = 50
    /// How long memory use must stay below the upper mark before Redis counts as relieved, in milliseconds.
    package static let gracePeriod: UInt64 = 30_000
    /// How many bytes of memory count for each accepted push. This is a limit that was chosen, not a measured mean.
    package static let pushBytes = 80

    /// When memory use came between the two marks; nil while memory use is below the lower mark or above the upper mark.
    private var betweenSince: UInt64?
    private var limitsIntake = false

    package init() {}

    /// - Parameter now: milliseconds on any monotonic clock.
    package mutating func decide(_ reading: Reading, now: UInt64) -> Decision {
        let taken = Self.share(Double(reading.open) * Double(Self.pushBytes), of: reading)
        limitsIntake = taken >= (limitsIntake ? Self.taken * 9 / 10 : Self.taken)
        return Decision(memory: memory(reading, now: now), limitsIntake: limitsIntake)
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

    /// Returns a share of the memory limit in percent, rounded down.
    private static func share(_ bytes: Double, of reading: Reading) -> Int {
        reading.limit > 0 ? Int(clamping: min(bytes / Double(reading.limit), 1000) * 100) : 0
    }
}
