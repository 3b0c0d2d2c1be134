import FarmStore
import RESP

/// Adds an event about a results entry that cannot be settled. Not to be repeated blindly: it would come twice.
struct TellOfUnreadableEntry: Request {
    var entry: EntryID
    var reason: String
    /// Unix seconds.
    var at: Int64

    func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("XADD")
        command.append(keys.events)
        for word in ["MAXLEN", "~", "1000000", "*", "type", "farm.unreadable", "at", "\(at * 1000)", "entry"]
        {
            command.append(word)
        }
        command.append(entry.bytes)
        command.append("reason")
        command.append(reason)
    }

    static func read(_ value: RESPValue) throws(StoreError) {}
}
