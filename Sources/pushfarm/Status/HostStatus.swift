import Foundation

/// What a coordinator writes about its host and its workers. Fields that are missing are 0 or empty, so that an older
/// command can read a newer farm.
struct HostStatus: Decodable, Sendable {
    struct Worker: Decodable, Sendable {
        var worker = ""
        var pid = 0
        var state = ""
        var shards = 0
        var connections = 0
        var streams = 0
        /// Pushes a second.
        var rate = 0
        var restarts = 0
        /// Bytes.
        var rss = 0
        var delivered = 0
        var failed = 0

        private enum Key: String, CodingKey {
            case worker, pid, state, shards, connections, streams, rate, restarts, rss, delivered, failed
        }

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: Key.self)
            worker = fields.text(.worker)
            state = fields.text(.state)
            pid = fields.number(.pid)
            shards = fields.number(.shards)
            connections = fields.number(.connections)
            streams = fields.number(.streams)
            rate = fields.number(.rate)
            restarts = fields.number(.restarts)
            rss = fields.number(.rss)
            delivered = fields.number(.delivered)
            failed = fields.number(.failed)
        }
    }

    /// The process that takes the host's jobs in.
    struct Intake: Decodable, Sendable {
        var pid = 0
        var state = ""
        var restarts = 0
        /// Jobs a second.
        var rate = 0
        /// Bytes.
        var rss = 0
        /// Since the process's start: jobs done with, refused ones among them, and pushes put into batches.
        var jobs = 0
        var refused = 0
        var pushes = 0

        private enum Key: String, CodingKey {
            case pid, state, restarts, rate, rss, jobs, refused, pushes
        }

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: Key.self)
            state = fields.text(.state)
            pid = fields.number(.pid)
            restarts = fields.number(.restarts)
            rate = fields.number(.rate)
            rss = fields.number(.rss)
            jobs = fields.number(.jobs)
            refused = fields.number(.refused)
            pushes = fields.number(.pushes)
        }
    }

    /// A shard that waits, because its pushes were in the air in crash after crash.
    struct Quarantined: Decodable, Sendable {
        var app: String
        var shard: Int
        /// Until it goes on.
        var milliseconds: Int
    }

    var host = ""
    var pid = 0
    var state = ""
    var capacity = 0
    /// Unix milliseconds.
    var since: Int64 = 0
    /// Nil in an older farm.
    var intake: Intake?
    var workers: [Worker] = []
    var quarantined: [Quarantined] = []

    private enum Key: String, CodingKey {
        case host, pid, state, capacity, since, intake, workers, quarantined
    }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        host = fields.text(.host)
        state = fields.text(.state)
        pid = fields.number(.pid)
        capacity = fields.number(.capacity)
        since = (try? fields.decode(Int64.self, forKey: .since)) ?? 0
        intake = try? fields.decode(Intake.self, forKey: .intake)
        workers = (try? fields.decode([Worker].self, forKey: .workers)) ?? []
        quarantined = (try? fields.decode([Quarantined].self, forKey: .quarantined)) ?? []
    }

    /// - Parameters:
    ///   - name: the host's name in Redis, which counts.
    ///   - isAlive: false when its line has ended: then it is called "gone".
    init(name: String, json: [UInt8], isAlive: Bool) {
        self = (try? JSONDecoder().decode(HostStatus.self, from: Data(json))) ?? HostStatus()
        host = name
        if !isAlive { state = "gone" }
    }

    private init() {}
}

extension KeyedDecodingContainer {
    /// 0 if it is missing, or no number of a sensible size.
    fileprivate func number(_ key: Key) -> Int {
        (try? decode(Double.self, forKey: key)).flatMap { Int(exactly: $0.rounded()) } ?? 0
    }

    fileprivate func text(_ key: Key) -> String { (try? decode(String.self, forKey: key)) ?? "" }
}

extension HostStatus {
    var json: JSONValue {
        .object([
            "host": .string(host), "pid": .number(pid), "state": .string(state),
            "capacity": .number(capacity),
            "since": .number(since), "intake": intake?.json ?? .null, "workers": .array(workers.map(\.json)),
            "quarantined": .array(
                quarantined.map {
                    .object([
                        "app": .string($0.app), "shard": .number($0.shard),
                        "milliseconds": .number($0.milliseconds),
                    ])
                }),
        ])
    }
}

extension HostStatus.Intake {
    var json: JSONValue {
        .object([
            "pid": .number(pid), "state": .string(state), "rate": .number(rate),
            "restarts": .number(restarts),
            "rss": .number(rss), "jobs": .number(jobs), "refused": .number(refused),
            "pushes": .number(pushes),
        ])
    }
}

extension HostStatus.Worker {
    var json: JSONValue {
        .object([
            "worker": .string(worker), "pid": .number(pid), "state": .string(state),
            "shards": .number(shards),
            "connections": .number(connections), "streams": .number(streams), "rate": .number(rate),
            "restarts": .number(restarts), "rss": .number(rss), "delivered": .number(delivered),
            "failed": .number(failed),
        ])
    }
}
