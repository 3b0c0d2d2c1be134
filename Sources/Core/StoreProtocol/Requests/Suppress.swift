package import PushModel
package import RedisProtocol

/// Adds records to suppression lists, and notifies the workers that serve the shards.
///
/// A call is limited to 1,000 records, or 500 records with events, so that Redis is blocked for at most 5 ms.
package struct Suppress: Request {
    package struct Entry: Sendable {
        package var shard: Int
        /// The record to add; nil if the list already contains it.
        package var record: SuppressionRecord?
        /// The event for producers; nil writes no event.
        package var event: FarmEvent?

        package init(shard: Int, record: SuppressionRecord?, event: FarmEvent? = nil) {
            (self.shard, self.record, self.event) = (shard, record, event)
        }
    }

    package static var script: Script? { .suppress }
    /// The number of processed records; 0 if an earlier call did this step.
    package typealias Reply = Int

    package let words: [any CommandArgument]

    /// - Parameters:
    ///   - limit: maximum number of records that a shard's list keeps.
    ///   - writer: the writer's unique name. Redis stores the number of the writer's last step, so that a repeated call adds no
    ///     records twice.
    package init(
        _ entries: [Entry], scopes: Set<SuppressionScope>, limit: Int = Retention().suppressed,
        writer: String, step: Int
    ) {
        words = [ScriptKeys.prefix, limit, writer, step, scopes, ArgumentList(entries, isCounted: true)]
    }
}

extension Suppress.Entry: CommandArgument {
    package func write(to command: inout RESPCommand, _ keys: Keys) {
        command.append(LeaseID.name(ofShard: shard))
        command.append(record?.bytes ?? [])
        if let event { event.write(to: &command, keys) } else { command.append(0) }
    }
}

/// Applies or drops suppressions that wait for confirmation.
package struct ResolveUnconfirmed: Request {
    package enum Step: String, Sendable {
        /// Applies the suppressions, but only if the share of bad tokens has fallen below the limit.
        case due
        case confirm
        case discard
    }

    package struct Reply: Equatable, Sendable {
        package let done: Int
        package let remaining: Int
    }

    package static var script: Script? { .resolveUnconfirmed }

    package let words: [any CommandArgument]

    /// - Parameters:
    ///   - limit: maximum number of records that a shard's list keeps.
    ///   - most: maximum number of suppressions in one call, so that Redis is blocked for at most 5 ms.
    package init(_ step: Step, limit: Int = Retention().suppressed, most: Int = 500) {
        words = [ScriptKeys.prefix, step.rawValue, limit, most]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        return Reply(done: try reader.integer(), remaining: try reader.integer())
    }
}

/// Counts the suppressions that wait for confirmation.
package struct CountUnconfirmed: Request {
    package typealias Reply = Int

    package init() {}

    package var words: [any CommandArgument] { ["LLEN", AppKey(\.unconfirmed)] }
}

/// Reads the guard's counts.
package struct ReadGuard: Request {
    package struct Reply: Equatable, Sendable {
        /// The number of responses that the guard has counted: at most the last thousand.
        package var responses = 0
        package var bad = 0
        /// Whether new suppressions wait for confirmation.
        package var holdsUnconfirmed = false

        package init() {}

        package var percent: Int { responses > 0 ? bad * 100 / responses : 0 }
    }

    private static let fields = ["answers", "bad", "state"]

    package init() {}

    package var words: [any CommandArgument] { ["HMGET", AppKey(\.guardCounts), ArgumentList(Self.fields)] }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        let fields = try ReplyFields(value, fields, Self.self)
        func number(_ name: String) -> Int {
            // The count of bad responses is stored with decimals, which are ignored here.
            let digits = fields.text(name)?.prefix { $0 != "." } ?? ""
            return min(max(0, Int(foreign: digits) ?? 0), 1_000_000)
        }
        var reply = Reply()
        (reply.responses, reply.bad) = (number("answers"), number("bad"))
        reply.holdsUnconfirmed = fields.text("state") == "held"
        return reply
    }
}
