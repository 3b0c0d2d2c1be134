package import RESP

/// Lets parked batches and quarantined jobs go on, a number of batches a call.
package struct Release: Request {
    package struct Reply: Equatable, Sendable {
        /// Batches put back.
        package let batches: Int
        /// Where the next call begins; nil at the end.
        package let next: Int?
        /// Jobs that were quarantined.
        package let jobs: Int
    }

    package static var script: Script? { .release }

    /// Nil for all.
    package var job: String?
    package var start: Int
    package var limit: Int

    package init(job: String? = nil, start: Int = 0, limit: Int = 100) {
        (self.job, self.start, self.limit) = (job, start, limit)
    }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys)
        command.append(limit)
        command.append(start)
        command.append(job ?? "")
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, "release")
        let (batches, next, jobs) = (try reader.integer(), try reader.integer(), try reader.integer())
        return Reply(batches: batches, next: next < 0 ? nil : next, jobs: jobs)
    }
}
