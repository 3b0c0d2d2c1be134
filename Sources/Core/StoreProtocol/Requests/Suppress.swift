package import PushModel
package import RedisProtocol

/// Adds records to suppression lists, and wakes the workers that serve the shards.
///
/// Bounds, so that Redis is not held up for more than 5 ms: 1,000 records, 500 with events.
package struct Suppress: Request {
    package struct Entry: Sendable {
        package var shard: Int
        /// Nil: its list has it already.
        package var record: SuppressionRecord?
        /// For producers.
        package var event: FarmEvent?

        package init(shard: Int, record: SuppressionRecord?, event: FarmEvent? = nil) {
            (self.shard, self.record, self.event) = (shard, record, event)
        }
    }

    package static var script: Script? { .suppress }
    /// How many were done; 0 if that was done before.
    package typealias Reply = Int

    package let words: [any CommandWord]

    /// - Parameters:
    ///   - limit: records that a shard's list keeps at most.
    ///   - writer: the unique name of the writer; with the number of its step, from 1, a repeated call adds nothing twice.
    package init(
        _ entries: [Entry], scopes: Set<SuppressionScope>, limit: Int = Retention().suppressed,
        writer: String, step: Int
    ) {
        words = [ScriptKeys.prefix, limit, writer, step, scopes, WordList(entries, isCounted: true)]
    }
}

extension Suppress.Entry: CommandWord {
    package func write(to command: inout RESPCommand, _ keys: Keys) {
        command.append(LeaseField.name(ofShard: shard))
        command.append(record?.bytes ?? [])
        if let event { event.write(to: &command, keys) } else { command.append(0) }
    }
}

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

    package let words: [any CommandWord]

    /// - Parameters:
    ///   - limit: records that a shard's list keeps at most.
    ///   - most: of one call, so that Redis is not held up for more than 5 ms.
    package init(_ step: Step, limit: Int = Retention().suppressed, most: Int = 500) {
        words = [ScriptKeys.prefix, step.rawValue, limit, most]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        return Reply(done: try reader.integer(), left: try reader.integer())
    }
}

/// Counts the suppressions that are to be confirmed.
package struct CountUnconfirmed: Request {
    package typealias Reply = Int

    package init() {}

    package var words: [any CommandWord] { ["LLEN", AppKey(\.unconfirmed)] }
}

/// Reads the guard's counts.
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

    private static let fields = ["answers", "bad", "state"]

    package init() {}

    package var words: [any CommandWord] { ["HMGET", AppKey(\.guardCounts), WordList(Self.fields)] }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        let fields = try ReplyFields(value, fields, Self.self)
        func number(_ name: String) -> Int {
            // The count of bad ones has decimals.
            let digits = fields.text(name)?.prefix { $0 != "." } ?? ""
            return min(max(0, Int(foreign: digits) ?? 0), 1_000_000)
        }
        var reply = Reply()
        (reply.answers, reply.bad) = (number("answers"), number("bad"))
        reply.isHolding = fields.text("state") == "held"
        return reply
    }
}
