package import RedisProtocol

/// Lets parked batches, and quarantined jobs and devices, go on, a number of batches a call.
package struct Release: Request {
    package struct Reply: Equatable, Sendable {
        /// Batches put back.
        package let batches: Int
        /// Where the next call begins; nil at the end.
        package let next: Int?
        /// Jobs that were quarantined.
        package let jobs: Int
        /// Devices that were.
        package var devices = 0
    }

    package enum What: Equatable, Sendable {
        /// All that waits, but for what operators have paused.
        case all
        case job(String)
        /// A job that an operator has paused.
        case pausedJob(String)
        /// Raw bytes.
        case device([UInt8])
    }

    package static var script: Script? { .release }

    package var what: What
    /// Parked batches that were looked at and stay.
    package var start: Int
    package var limit: Int

    package init(_ what: What = .all, start: Int = 0, limit: Int = 100) {
        (self.what, self.start, self.limit) = (what, start, limit)
    }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys)
        command.append(limit)
        command.append(start)
        switch what {
        case .all:
            command.append("")
            command.append("all")
        case .job(let id):
            command.append(id)
            command.append("job")
        case .pausedJob(let id):
            command.append(id)
            command.append("paused")
        case .device(let token):
            command.append(token)
            command.append("device")
        }
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, "release")
        let (batches, next) = (try reader.integer(), try reader.integer())
        return Reply(
            batches: batches, next: next < 0 ? nil : next, jobs: try reader.integer(),
            devices: try reader.integer())
    }
}
