/// What a sender of the write-ups does next, without a connection: writes one push after the other, looks for a reply as is its
/// habit, and goes back to what follows the push that a reply names.
package struct HistoricCourse {
    package enum Step: Hashable {
        /// The push at a place of its list.
        case write(Int)
        case look(Duration)
        /// A new connection.
        case connect
        case done
    }

    private let count: Int
    private let habit: Habit
    private var place = 0
    private var sinceLook = 0
    private var isConnected = false
    private var hasLookedLast = false
    private var hasFailed = false
    /// Pushes that a reply named.
    package private(set) var refused = 0
    /// Pushes that it believes to be delivered.
    package var sent: Int { place - refused }

    package init(count: Int, habit: Habit) { (self.count, self.habit) = (count, habit) }

    package mutating func next() -> Step {
        if hasFailed {
            (hasFailed, isConnected) = (false, false)
            return .look(.zero)
        }
        if place == count, habit.interval == nil || hasLookedLast { return .done }
        guard isConnected else {
            (isConnected, sinceLook) = (true, 0)
            return .connect
        }
        guard place < count else {
            hasLookedLast = true
            return .look(habit.lastPatience)
        }
        if let interval = habit.interval, sinceLook >= interval {
            sinceLook = 0
            return .look(habit.patience)
        }
        defer { (place, sinceLook) = (place + 1, sinceLook + 1) }
        return .write(place)
    }

    /// A reply refuses the push at `culprit`: nothing behind it counts.
    package mutating func refused(_ culprit: Int) {
        goOn(from: culprit + 1)
        refused += 1
    }

    /// A reply names the last push that was accepted.
    package mutating func accepted(upTo last: Int) { goOn(from: last + 1) }

    /// The connection is gone, and no reply was found.
    package mutating func lost() { goOn(from: place) }

    /// The last write did not succeed: it is made again on a new connection. The reply may be there all the same, for who
    /// reads.
    package mutating func failed() {
        goOn(from: place - 1)
        hasFailed = habit.interval != nil
    }

    private mutating func goOn(from next: Int) {
        place = min(next, place)
        isConnected = false
        hasLookedLast = place == count
    }
}
