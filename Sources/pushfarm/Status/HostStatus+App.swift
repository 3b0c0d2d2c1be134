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
