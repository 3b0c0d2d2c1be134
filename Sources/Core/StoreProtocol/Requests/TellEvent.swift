package import RedisProtocol

/// Tells producers of an event that belongs to no step, at Redis's time.
package struct TellEvent: Request {
    package static var script: Script? { .tell }

    package var event: FarmEvent
    /// Tells this telling from every other, when it is made again.
    package let name: String

    package init(_ event: FarmEvent, name: String = String(UInt64.random(in: 0 ... .max), radix: 16)) {
        (self.event, self.name) = (event, name)
    }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys)
        command.append(name)
        command.append(event.kind.rawValue)
        for word in event.words { command.append(word) }
    }

    /// Whether it was told now, and not before.
    package static func read(_ value: RESPValue) throws(StoreError) -> Bool {
        guard let number = value.integer else { throw .unexpectedReply("tell") }
        return number == 1
    }
}
