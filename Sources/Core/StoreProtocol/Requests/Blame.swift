package import RedisProtocol

/// Holds the taken jobs to job record for the end of the intake process that was at work on them.
///
/// One that brings about ``limit`` ends, all but the first of them alone, is refused.
package struct Blame: Request {
    package struct Reply: Equatable, Sendable {
        /// Jobs that go one by one from now on.
        package let careful: Int
        /// Ends that are held against the first of them; 0 while it may be any one's doing.
        package let ends: Int
        /// The first job was refused with this end.
        package let isRefused: Bool
    }

    package static var script: Script? { .blame }

    package var token: FenceToken
    /// The process that ended, by a name that no other has.
    package var process: String
    /// Whether the process was at work for this app only.
    package var isAlone: Bool
    /// Ends of a process that are one job's doing.
    package var limit: Int
    package var retention: Retention

    package init(
        token: FenceToken, process: String, isAlone: Bool, limit: Int = 3, retention: Retention = Retention()
    ) {
        (self.token, self.process, self.isAlone) = (token, process, isAlone)
        (self.limit, self.retention) = (limit, retention)
    }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys)
        command.append(token.bytes)
        command.append(process)
        command.append(isAlone)
        command.append(limit)
        command.append(retention.jobRecordSeconds)
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, "blame")
        return Reply(
            careful: try reader.integer(), ends: try reader.integer(), isRefused: try reader.integer() == 1)
    }
}
