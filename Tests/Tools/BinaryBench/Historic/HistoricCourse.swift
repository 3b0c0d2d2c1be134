/// The decisions of a historic sender, without a connection. The sender writes one push after the other and reads
/// replies after as many pushes as its habit says. After a reply, the sender continues with the push that follows the
/// push in the reply.
package struct HistoricCourse {
    package enum Step: Hashable {
        /// Writes the push at this place of the list.
        case write(Int)
        case readReplies(Duration)
        /// Opens a new connection.
        case connect
        case done
    }

    private let count: Int
    private let habit: ReadingHabit
    private var index = 0
    private var sinceLook = 0
    private var isConnected = false
    private var hasLookedLast = false
    private var hasFailed = false
    /// The number of pushes that replies have refused.
    package private(set) var refused = 0
    /// The number of pushes that the sender believes to be delivered.
    package var sent: Int { index - refused }

    package init(count: Int, habit: ReadingHabit) { (self.count, self.habit) = (count, habit) }

    package mutating func next() -> Step {
        if hasFailed {
            (hasFailed, isConnected) = (false, false)
            return .readReplies(.zero)
        }
        if index == count, habit.interval == nil || hasLookedLast { return .done }
        guard isConnected else {
            (isConnected, sinceLook) = (true, 0)
            return .connect
        }
        guard index < count else {
            hasLookedLast = true
            return .readReplies(habit.lastTimeout)
        }
        if let interval = habit.interval, sinceLook >= interval {
            sinceLook = 0
            return .readReplies(habit.timeout)
        }
        defer { (index, sinceLook) = (index + 1, sinceLook + 1) }
        return .write(index)
    }

    /// Handles a reply that refuses the push at `culprit`. The gateway has discarded all pushes after that push.
    package mutating func refused(_ culprit: Int) {
        goOn(from: culprit + 1)
        refused += 1
    }

    /// Handles a reply that names the last accepted push.
    package mutating func accepted(upTo last: Int) { goOn(from: last + 1) }

    /// Handles a lost connection without a reply.
    package mutating func lost() { goOn(from: index) }

    /// Handles a failed write, which is repeated on a new connection. A sender that reads may still find a reply on the
    /// old connection.
    package mutating func failed() {
        goOn(from: index - 1)
        hasFailed = habit.interval != nil
    }

    private mutating func goOn(from next: Int) {
        index = min(next, index)
        isConnected = false
        hasLookedLast = index == count
    }
}
