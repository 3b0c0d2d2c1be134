package import PushModel
package import RESP

/// How old the oldest push of each lane is that could be sent or is with a worker.
package struct ReadAges: Request {
    package struct Reply: Equatable, Sendable {
        /// Since its jobs were split, or it was due, or last tried; nil when nothing waits.
        package let high: Duration?
        package let bulk: Duration?

        package init(high: Duration?, bulk: Duration?) { (self.high, self.bulk) = (high, bulk) }

        package var oldest: Duration? { [high, bulk].compactMap(\.self).max() }

        package subscript(lane: Lane) -> Duration? { lane == .high ? high : bulk }
    }

    package static var script: Script? { .ages }

    /// Of the farm.
    package var shards: Int

    package init(shards: Int) { self.shards = shards }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys)
        command.append(shards)
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, "ages")
        func age(_ milliseconds: Int) -> Duration? { milliseconds < 0 ? nil : .milliseconds(milliseconds) }
        return Reply(high: age(try reader.integer()), bulk: age(try reader.integer()))
    }
}
