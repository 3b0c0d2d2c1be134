package import RedisProtocol

/// Moves delayed batches that are due to their ready lists. At most 128 a call hold Redis up for less than 5 ms.
package struct Promote: Request {
    package struct Reply: Equatable, Sendable {
        /// When the next one is due; nil if none waits.
        package let nextDue: Duration?
        /// Shards that got batches.
        package let rung: [Int]
    }

    package static var script: Script? { .promote }

    package var limit: Int

    package init(limit: Int = 128) { self.limit = limit }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys)
        command.append(limit)
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, "promote")
        let next = try reader.integer()
        return Reply(nextDue: next < 0 ? nil : .milliseconds(next), rung: try reader.remainingShards())
    }
}
