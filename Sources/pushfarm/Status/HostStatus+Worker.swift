extension HostStatus {
    /// One of the host's workers. Counts are since the process's start.
    struct Worker: Decodable, Sendable {
        var worker = ""
        /// Nil as long as there is no process.
        var pid: Int?
        var state = ""
        var shards = 0
        var connections = 0
        var streams = 0
        /// Pushes a second.
        var rate = 0
        /// Pushes a second of the apps that go slower because their gateway is in trouble; 0: none does.
        var slowedTo = 0
        var restarts = 0
        /// Bytes.
        var rss = 0
        var delivered = 0
        var failed = 0
        var retried = 0
        /// Percent of a processor that it takes or waits for.
        var busy = 0
        /// When its process began, in Unix milliseconds; 0: there is none.
        var since: Int64 = 0

        init(from decoder: any Decoder) throws {
            let fields = try LenientFields(decoder)
            worker = fields.text("worker")
            pid = fields.pid
            state = fields.text("state")
            shards = fields.number("shards")
            connections = fields.number("connections")
            streams = fields.number("streams")
            rate = fields.number("rate")
            slowedTo = fields.number("slowed_to")
            restarts = fields.number("restarts")
            rss = fields.number("rss")
            delivered = fields.number("delivered")
            failed = fields.number("failed")
            retried = fields.number("retried")
            busy = fields.number("busy")
            since = fields.number("since")
        }

        /// Its host is gone: what remains are the counts.
        mutating func becomeGone() {
            (state, pid, shards) = ("gone", nil, 0)
            (connections, streams, rate, slowedTo, busy, since) = (0, 0, 0, 0, 0, 0)
        }

        var json: JSONValue {
            .object([
                "worker": .string(worker), "pid": .whole(pid), "state": .string(state),
                "shards": .number(shards), "connections": .number(connections), "streams": .number(streams),
                "rate": .number(rate), "slowed_to": .number(slowedTo), "restarts": .number(restarts),
                "rss": .number(rss),
                "delivered": .number(delivered), "failed": .number(failed),
                "retried": .number(retried), "busy": .number(busy), "since": .number(since),
            ])
        }
    }
}
