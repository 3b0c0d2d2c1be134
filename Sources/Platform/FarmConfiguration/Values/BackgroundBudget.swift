import PushModel

/// The maximum number of background pushes to a stored device in a calendar hour.
package struct BackgroundBudget: Equatable, Sendable {
    /// No limit.
    package static let off = BackgroundBudget(pushes: 0)
    /// The largest number of pushes, because a counter has four bits.
    private static let largest = 15

    /// 1 to 15; 0 if there is no limit.
    package let pushes: Int

    private init(pushes: Int) { self.pushes = pushes }

    /// Reads `off`, or a number of pushes an hour such as `3/h`.
    init(_ text: String) throws(InvalidValue) {
        guard text != "off" else {
            self = .off
            return
        }
        guard text.hasSuffix("/h"), let pushes = Int(foreign: text.dropLast(2)),
            (1...Self.largest).contains(pushes)
        else { throw InvalidValue("expected off, or 1 to \(Self.largest) pushes an hour such as 3/h") }
        self.init(pushes: pushes)
    }
}
