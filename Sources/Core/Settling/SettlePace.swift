/// How long a gatherer waits between two rounds: what comes close together is settled together.
///
/// An account that many reports are about is then touched once for all of them. Pauses get longer only while each ends
/// with more to settle, so who sends little does not wait for it.
package struct SettlePace {
    static let shortest = Duration.milliseconds(5)
    static let longest = Duration.milliseconds(40)

    package private(set) var pause = Self.shortest
    private var isBusy = false

    package init() {}

    /// There was something to settle.
    package mutating func settled() {
        if isBusy { pause = min(pause * 2, Self.longest) }
        isBusy = true
    }

    /// There was nothing to settle for a while.
    package mutating func rested() {
        pause = Self.shortest
        isBusy = false
    }
}
