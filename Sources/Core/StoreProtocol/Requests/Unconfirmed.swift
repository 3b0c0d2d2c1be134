package import RedisProtocol

/// Applies or drops suppressions that the guard keeps until they are confirmed.
package struct SettleUnconfirmed: Request {
    package enum Step: String, Sendable {
        /// Applies them if the share of bad tokens has fallen again.
        case due
        case confirm
        case discard
    }

    package struct Reply: Equatable, Sendable {
        package let done: Int
        package let left: Int
    }

    package static var script: Script? { .unconfirmed }

    package var step: Step
    /// Records that a shard's list keeps at most.
    package var limit: Int
    /// So that Redis is not held up for more than 5 ms.
    package var most: Int

    package init(_ step: Step, limit: Int = Retention().suppressed, most: Int = 500) {
        (self.step, self.limit, self.most) = (step, limit, most)
    }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys)
        command.append(step.rawValue)
        command.append(limit)
        command.append(most)
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, "unconfirmed")
        return Reply(done: try reader.integer(), left: try reader.integer())
    }
}

/// How many suppressions wait until they are confirmed.
package struct CountUnconfirmed: Request {
    package init() {}

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("LLEN")
        command.append(keys.unconfirmed)
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Int {
        guard let count = value.integer else { throw .unexpectedReply("unconfirmed") }
        return Int(clamping: count)
    }
}

/// What the guard has counted.
package struct ReadGuard: Request {
    package struct Reply: Equatable, Sendable {
        /// Of the last thousand at most.
        package var answers = 0
        package var bad = 0
        /// Bad tokens are not suppressed until they are confirmed.
        package var isHolding = false

        package init() {}

        package var percent: Int { answers > 0 ? bad * 100 / answers : 0 }
    }

    package init() {}

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("HMGET")
        command.append(keys.guardCounts)
        for field in ["answers", "bad", "state"] { command.append(field) }
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        guard let parts = value.array, parts.count == 3 else { throw .unexpectedReply("guard") }
        func number(_ value: RESPValue) -> Int {
            // The count of bad ones has decimals.
            let digits = value.text?.prefix { $0 != "." } ?? ""
            return min(max(0, Int(foreign: digits) ?? 0), 1_000_000)
        }
        var reply = Reply()
        (reply.answers, reply.bad) = (number(parts[0]), number(parts[1]))
        reply.isHolding = parts[2].text == "held"
        return reply
    }
}
