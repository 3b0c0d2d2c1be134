extension HostStatus {
    /// One of the host's workers. Counts are since the process's start.
    struct WorkerStatus: Decodable, Sendable {
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

extension HostStatus {
    /// The process that takes the host's jobs in. Counts are since its start.
    struct IntakeStatus: Decodable, Sendable {
        /// Nil as long as there is no process.
        var pid: Int?
        var state = ""
        /// Jobs a second.
        var rate = 0
        var restarts = 0
        /// Bytes.
        var rss = 0
        /// Jobs done with, refused ones among them, and pushes put into batches.
        var jobs = 0
        var refused = 0
        var pushes = 0

        init(from decoder: any Decoder) throws {
            let fields = try LenientFields(decoder)
            pid = fields.pid
            state = fields.text("state")
            rate = fields.number("rate")
            restarts = fields.number("restarts")
            rss = fields.number("rss")
            jobs = fields.number("jobs")
            refused = fields.number("refused")
            pushes = fields.number("pushes")
        }

        /// Its host is gone: what remains are the counts.
        mutating func becomeGone() {
            (state, pid, rate) = ("gone", nil, 0)
        }

        var json: JSONValue {
            .object([
                "pid": .whole(pid), "state": .string(state), "rate": .number(rate),
                "restarts": .number(restarts), "rss": .number(rss), "jobs": .number(jobs),
                "refused": .number(refused), "pushes": .number(pushes),
            ])
        }
    }
}

extension HostStatus {
    /// What the host does of an app. Counts are since its coordinator's start.
    struct App: Decodable, Sendable {
        var app = ""
        var shards = 0
        var connections = 0
        var streams = 0
        /// Pushes that get an outcome, and answers that are errors, a second.
        var rate = 0
        var errors = 0
        var slowedTo = 0
        var delivered = 0
        var failed = 0
        var retried = 0
        /// Milliseconds of the last ten seconds: the gateway's answers, and the wait before the departure; nil without any.
        var p50: Int?
        var p99: Int?
        var wait: Int?

        init(from decoder: any Decoder) throws {
            let fields = try LenientFields(decoder)
            app = fields.text("app")
            shards = fields.number("shards")
            connections = fields.number("connections")
            streams = fields.number("streams")
            rate = fields.number("rate")
            errors = fields.number("errors")
            slowedTo = fields.number("slowed_to")
            delivered = fields.number("delivered")
            failed = fields.number("failed")
            retried = fields.number("retried")
            p50 = fields.value("p50")
            p99 = fields.value("p99")
            wait = fields.value("wait")
        }

        /// Its host is gone: what remains are the counts.
        mutating func becomeGone() {
            (shards, connections, streams, rate, errors, slowedTo) = (0, 0, 0, 0, 0, 0)
            (p50, p99, wait) = (nil, nil, nil)
        }

        var json: JSONValue {
            .object([
                "app": .string(app), "shards": .number(shards), "rate": .number(rate),
                "errors": .number(errors), "connections": .number(connections), "streams": .number(streams),
                "slowed_to": .number(slowedTo), "delivered": .number(delivered), "failed": .number(failed),
                "retried": .number(retried), "p50": .whole(p50), "p99": .whole(p99), "wait": .whole(wait),
            ])
        }
    }
}
