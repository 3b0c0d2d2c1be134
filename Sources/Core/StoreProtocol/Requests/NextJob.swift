package import RedisProtocol

/// Waits for the next job, and moves it from the inbox to the end of `taken`. Only on a connection of its own.
///
/// There is no fence here, and none is needed: a job that was moved for a process that is not the intake, or whose reply is
/// lost, is the next ``Take``'s. So the caller may only go on with ``Split/alone``.
package struct NextJob: Request {
    /// Zero: it does not wait.
    package var timeout: Duration

    package init(timeout: Duration) { self.timeout = timeout }

    package var blocking: Duration { timeout }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(timeout > .zero ? "BLMOVE" : "LMOVE")
        command.append(keys.inbox)
        command.append(keys.taken)
        command.append("LEFT")
        command.append("RIGHT")
        guard timeout > .zero else { return }
        // Seconds; 0 would wait for ever.
        let milliseconds = max(1, timeout.wholeMilliseconds)
        let fraction = String(milliseconds % 1000 + 1000).dropFirst()
        command.append("\(milliseconds / 1000).\(fraction)")
    }

    /// The job's exact bytes; nil when the time has passed without one.
    package static func read(_ value: RESPValue) throws(StoreError) -> [UInt8]? {
        if value.isNull { return nil }
        guard let job = value.bytes else { throw .unexpectedReply("BLMOVE") }
        return job
    }
}
