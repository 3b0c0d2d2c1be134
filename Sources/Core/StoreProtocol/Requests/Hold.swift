package import RedisProtocol

/// Holds back a job, a device or a shard, for an operator.
package struct Hold: Request {
    package enum Kind: String, Sendable {
        case pause, quarantine
    }

    package enum What: Equatable, Sendable {
        case job(String, Kind)
        /// What of the job is not in the air is cancelled from then on, in Unix milliseconds; 0: now. A finished job's
        /// job record is kept so many seconds.
        case cancel(String, from: Int64, keep: Int)
        /// Raw bytes, and the shard that they belong to.
        case device([UInt8], shard: Int)
        case shard(Int, Kind)
        /// The shard is served again.
        case serve(Int)
    }

    /// What Redis knows of a job.
    package enum Subject: String, Sendable {
        case open, finished
        /// It has no job record, but jobs wait in the inbox.
        case expected
        case unknown
        /// Too much is held back.
        case full
        /// It is no job.
        case none = ""
    }

    package struct Reply: Equatable, Sendable {
        package let hasChanged: Bool
        package let subject: Subject
        /// What was written down before.
        package let before: String

        package init(hasChanged: Bool, subject: Subject, before: String) {
            (self.hasChanged, self.subject, self.before) = (hasChanged, subject, before)
        }
    }

    package static var script: Script? { .hold }

    package var what: What
    package var by: String
    package var reason: String

    package init(_ what: What, by: String, reason: String = "") {
        (self.what, self.by, self.reason) = (what, by, reason)
    }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys, inbox: ())
        switch what {
        case .job(let id, let kind):
            command.append("job")
            command.append(id)
            command.append(kind.rawValue)
        case .cancel(let id, let from, let keep):
            command.append("cancel")
            command.append(id)
            command.append(from)
            command.append(keep)
        case .device(let token, let shard):
            command.append("device")
            command.append(token)
            command.append(LeaseField.name(ofShard: shard))
        case .shard(let number, let kind):
            command.append("shard")
            command.append(LeaseField.name(ofShard: number))
            command.append(kind.rawValue)
        case .serve(let number):
            command.append("serve")
            command.append(LeaseField.name(ofShard: number))
        }
        command.append(by)
        command.append(reason)
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, "hold")
        let hasChanged = try reader.integer() == 1
        guard let subject = Subject(rawValue: try reader.text()) else { throw .unexpectedReply("hold") }
        return Reply(hasChanged: hasChanged, subject: subject, before: try reader.text())
    }
}

/// Ends what was called back, in batches that no worker holds: as many as take about 3 ms.
package struct CancelBatches: Request {
    package struct Reply: Equatable, Sendable {
        /// The first so many batches were looked at.
        package let looked: Int
        /// Pushes.
        package let cancelled: Int
        /// Batches of which nothing is left.
        package let gone: Int
    }

    package static var script: Script? { .cancel }

    package var batches: [String]

    package init(_ batches: [String]) { self.batches = batches }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys)
        for batch in batches { command.append(batch) }
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, "cancel")
        return Reply(
            looked: try reader.integer(), cancelled: try reader.integer(), gone: try reader.integer())
    }
}

/// Makes the delayed batches of a job due now, a number a call.
package struct MakeDue: Request {
    package struct Reply: Equatable, Sendable {
        package let batches: Int
        package let pushes: Int
        /// Where the next call begins; nil at the end.
        package let next: Int?
    }

    package static var script: Script? { .makeDue }

    package var job: String
    package var start: Int
    package var limit: Int

    package init(job: String, start: Int = 0, limit: Int = 128) {
        (self.job, self.start, self.limit) = (job, start, limit)
    }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys)
        command.append(job)
        command.append(start)
        command.append(limit)
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, "make_due")
        let (batches, pushes, next) = (try reader.integer(), try reader.integer(), try reader.integer())
        return Reply(batches: batches, pushes: pushes, next: next < 0 ? nil : next)
    }
}
