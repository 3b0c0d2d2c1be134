import EventLoop
import PushModel

/// What `pushfarm status` shows of a host: one JSON object, written to Redis every second.
@Loop struct HostLine {
    var host: String
    var pid: Int32
    var state: String
    var capacity: Int
    /// Unix milliseconds.
    var since: Int64
    var slots: [(slot: WorkerSlot, shards: Int)]
    /// Shards that wait after crashes.
    var quarantined: [(app: String, shard: Int, left: Duration)] = []

    var json: [UInt8] {
        var json = JSONText()
        json.beginObject()
        json.key("host")
        json.value(host)
        json.key("pid")
        json.value(pid)
        json.key("state")
        json.value(state)
        json.key("capacity")
        json.value(capacity)
        json.key("since")
        json.value(since)
        json.key("workers")
        json.beginArray()
        for (slot, shards) in slots { Self.append(slot, shards: shards, to: &json) }
        json.endArray()
        json.key("quarantined")
        json.beginArray()
        for (app, shard, left) in quarantined {
            json.beginObject()
            json.key("app")
            json.value(app)
            json.key("shard")
            json.value(Int64(shard))
            json.key("milliseconds")
            json.value(Int64(left.milliseconds))
            json.endObject()
        }
        json.endArray()
        json.endObject()
        return json.bytes
    }

    private static func append(_ slot: WorkerSlot, shards: Int, to json: inout JSONText) {
        json.beginObject()
        json.key("worker")
        json.value("\(slot.index)")
        json.key("state")
        json.value(slot.state.rawValue)
        let beat = slot.beat
        let numbers: [(String, UInt64)] = [
            ("pid", UInt64(slot.pid)), ("shards", UInt64(shards)), ("connections", UInt64(beat.connections)),
            ("streams", UInt64(beat.openStreams)), ("rate", slot.rate), ("restarts", UInt64(slot.restarts)),
            ("rss", beat.residentBytes), ("delivered", beat.delivered), ("failed", beat.failed),
        ]
        for (name, number) in numbers {
            json.key(name)
            json.value(number)
        }
        json.endObject()
    }
}
