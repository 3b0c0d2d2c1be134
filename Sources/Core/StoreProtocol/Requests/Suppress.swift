package import PushModel
package import RedisProtocol

/// Adds records to suppression lists, and tells the workers that serve the shards.
///
/// Bounds, so that Redis is not held up for more than 5 ms: 1,000 records, 500 with events.
package struct Suppress: Request {
    package struct Entry: Sendable {
        package var shard: Int
        /// nil: its list has it already.
        package var record: SuppressionRecord?
        /// What producers are told of it.
        package var event: FarmEvent?

        package init(shard: Int, record: SuppressionRecord?, event: FarmEvent? = nil) {
            (self.shard, self.record, self.event) = (shard, record, event)
        }
    }

    package static var script: Script? { .suppress }

    package var entries: [Entry]
    package var scopes: Set<SuppressionScope>
    /// Records that a shard's list keeps at most.
    package var limit: Int
    /// The unique name of the writer, and the number of its step, from 1: so that the call can be repeated
    /// without telling anything twice.
    package var writer: String
    package var step: Int

    package init(
        _ entries: [Entry], scopes: Set<SuppressionScope>, limit: Int = Retention().suppressed,
        writer: String, step: Int
    ) {
        (self.entries, self.scopes, self.limit) = (entries, scopes, limit)
        (self.writer, self.step) = (writer, step)
    }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys)
        command.append(limit)
        command.append(writer)
        command.append(step)
        command.append(scopes)
        command.append(entries.count)
        for entry in entries {
            command.append(LeaseField.name(ofShard: entry.shard))
            command.append(entry.record?.bytes ?? [])
            if let event = entry.event { event.write(to: &command) } else { command.append(0) }
        }
    }

    /// How many were done; 0 if that was done before.
    package static func read(_ value: RESPValue) throws(StoreError) -> Int {
        guard let count = value.integer else { throw .unexpectedReply("suppress") }
        return Int(count)
    }
}

extension RESPCommand {
    /// A count, then field and text of each.
    mutating func append(_ scopes: Set<SuppressionScope>) {
        append(scopes.count)
        for scope in scopes {
            append(scope.field)
            append(scope.text)
        }
    }
}

extension SuppressionScope {
    /// Its number in the hash of scopes, as 8 hexadecimal digits.
    var field: String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
