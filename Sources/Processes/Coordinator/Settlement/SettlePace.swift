/// How long a gatherer waits between two rounds: what comes close together is settled together.
///
/// An account that many reports are about is then touched once for all of them. Pauses get longer only while each ends
/// with more to settle, so who sends little does not wait for it.
struct SettlePace {
    static let shortest = Duration.milliseconds(5)
    static let longest = Duration.milliseconds(40)

    private(set) var pause = Self.shortest
    private var isBusy = false

    /// There was something to settle.
    mutating func settled() {
        if isBusy { pause = min(pause * 2, Self.longest) }
        isBusy = true
    }

    /// There was nothing to settle for a while.
    mutating func rested() {
        pause = Self.shortest
        isBusy = false
    }
}
