extension HostStatus {
    /// The process that takes the host's jobs in. Counts are since its start.
    struct Intake: Decodable, Sendable {
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
