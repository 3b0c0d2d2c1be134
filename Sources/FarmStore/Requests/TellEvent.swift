package import RESP

/// Tells producers of an event that belongs to no step. Not to be repeated blindly: it would come twice.
package struct TellEvent: Request {
    package var event: FarmEvent
    /// Seconds since 1970, by Redis's clock.
    package var at: Int64

    package init(_ event: FarmEvent, at: Int64) { (self.event, self.at) = (event, at) }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("XADD")
        command.append(keys.events)
        for word in ["MAXLEN", "~", "1000000", "*", "type", event.kind.rawValue, "at", "\(at * 1000)"] {
            command.append(word)
        }
        for word in event.words { command.append(word) }
    }

    package static func read(_ value: RESPValue) throws(StoreError) {}
}
