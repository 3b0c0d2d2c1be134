/// Limits how many pushes each app of a worker may send per turn, so that an app with ten million pushes does not delay another
/// app with ten pushes.
///
/// In each turn of the event loop, every app with sendable pushes may send a number of pushes that depends on the app's weight.
/// When the processor is busy, the limit divides the processor's time among the apps. When the processor is idle, the limit
/// delays no push.
package final class FairTurns {
    /// Pushes per turn of an app with a weight of 1, while other apps of the worker hold batches.
    private static let share = 128
    /// Pushes per turn of an app while no other app of the worker holds batches. The number is limited, because the event loop
    /// handles new events only after a turn.
    private static let onlyAppShare = 2048

    private var busyApps: Set<ObjectIdentifier> = []

    package init() {}

    /// Notes whether an app holds batches.
    package func note(_ app: AnyObject, holdsBatches: Bool) {
        if holdsBatches {
            busyApps.insert(ObjectIdentifier(app))
        } else {
            busyApps.remove(ObjectIdentifier(app))
        }
    }

    /// The number of pushes that an app may send in a turn.
    package func share(of app: AnyObject, weight: Int) -> Int {
        let others = busyApps.count - (busyApps.contains(ObjectIdentifier(app)) ? 1 : 0)
        return others > 0 ? Self.share * weight : Self.onlyAppShare
    }
}
