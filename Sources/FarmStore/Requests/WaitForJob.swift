package import RESP

/// Waits until the inbox holds a job, and leaves it there. Only on a connection of its own; take until nothing is
/// left before waiting again.
///
/// The first job is moved from the head of the list to its head: a blocking look, which Redis has no command for.
package struct WaitForJob: Request {
    package var timeout: Duration

    package init(timeout: Duration) { self.timeout = timeout }

    package var blocking: Duration { timeout }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("BLMOVE")
        command.append(keys.inbox)
        command.append(keys.inbox)
        command.append("LEFT")
        command.append("LEFT")
        // Seconds; 0 would wait for ever.
        let milliseconds = max(1, timeout.wholeMilliseconds)
        let fraction = String(milliseconds % 1000 + 1000).dropFirst()
        command.append("\(milliseconds / 1000).\(fraction)")
    }

    /// False when the time has passed without a job.
    package static func read(_ value: RESPValue) throws(StoreError) -> Bool { !value.isNull }
}
