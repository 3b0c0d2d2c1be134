/// What an app's governor in one worker goes by.
package struct GovernorSettings: Hashable, Sendable {
    package var minConnections = 1
    package var maxConnections = 8
    package var scale = ScaleMode.incremental(1)
    /// Streams must have been short, or a step less enough, for so long before the number of connections changes.
    package var minSustain = Duration.seconds(2)
    /// Between two looks.
    package var pollInterval = Duration.milliseconds(200)
    /// After a change, when all connections are there, nothing is decided for so long.
    package var settlePeriod = Duration.seconds(4)
    /// The pool makes connections by a rule of its own, as a binary gateway's does: only the surplus is closed here.
    package var growsByItself = false

    package init() {}

    /// A number of connections that stays.
    package init(connections: Int) {
        (minConnections, maxConnections) = (connections, connections)
    }
}
