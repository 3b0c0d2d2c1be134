import EventLoop
import FarmStore
import RESP

/// Adds an event: a shard waits, because its pushes were in the air in crash after crash.
struct TellOfQuarantine: Request {
    var shard: Int
    var duration: Duration
    var crashes: Int

    func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("XADD")
        command.append(keys.events)
        let words = [
            "MAXLEN", "~", "1000000", "*", "type", "shard.parked", "at", "\(WallClock.seconds * 1000)",
            "shard",
            "\(shard)", "reason", "crashes", "crashes", "\(crashes)", "seconds",
            "\(duration.components.seconds)",
        ]
        for word in words { command.append(word) }
    }

    static func read(_ value: RESPValue) throws(StoreError) {}
}
