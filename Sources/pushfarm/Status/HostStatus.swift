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
            func number(_ key: Key) -> Int {
                (try? fields.decode(Double.self, forKey: key)).map { Int($0) } ?? 0
            }
            worker = (try? fields.decode(String.self, forKey: .worker)) ?? ""
            state = (try? fields.decode(String.self, forKey: .state)) ?? ""
            pid = number(.pid)
            shards = number(.shards)
            connections = number(.connections)
            streams = number(.streams)
            rate = number(.rate)
            restarts = number(.restarts)
            rss = number(.rss)
            delivered = number(.delivered)
            failed = number(.failed)
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
    var workers: [Worker] = []
    var quarantined: [Quarantined] = []

    private enum Key: String, CodingKey {
        case host, pid, state, capacity, since, workers, quarantined
    }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        host = (try? fields.decode(String.self, forKey: .host)) ?? ""
        state = (try? fields.decode(String.self, forKey: .state)) ?? ""
        pid = (try? fields.decode(Int.self, forKey: .pid)) ?? 0
        capacity = (try? fields.decode(Int.self, forKey: .capacity)) ?? 0
        since = (try? fields.decode(Int64.self, forKey: .since)) ?? 0
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

extension HostStatus {
    var json: JSONValue {
        .object([
            "host": .string(host), "pid": .number(pid), "state": .string(state),
            "capacity": .number(capacity),
            "since": .number(since), "workers": .array(workers.map(\.json)),
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
