/// How long to wait between two rounds of settling: entries that come close together are settled together.
///
/// A job record that many reports are about is then changed once for all of them. Pauses get longer only while each ends
/// with more to settle, so a farm that sends little does not wait.
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
    package mutating func idled() {
        pause = Self.shortest
        isBusy = false
    }
}
