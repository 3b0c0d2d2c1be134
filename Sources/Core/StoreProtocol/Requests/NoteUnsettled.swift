package import RedisProtocol

/// Writes down that an entry of the results stream cannot be settled: it is seen until it is settled or repaired.
package struct NoteUnsettled: Request {
    package var entry: EntryID
    /// Unix milliseconds of Redis's clock.
    package var at: Int64
    package var reason: String

    package init(_ entry: EntryID, at: Int64, reason: String) {
        (self.entry, self.at, self.reason) = (entry, at, reason)
    }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("HSETNX")
        command.append(keys.unsettled)
        command.append(entry.bytes)
        command.append("\(at) \(reason)")
    }

    /// Whether it was not written down before.
    package static func read(_ value: RESPValue) throws(StoreError) -> Bool { value.integer == 1 }
}
