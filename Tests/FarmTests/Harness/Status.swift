import Foundation

/// The fields of `pushfarm status --json` that tests use. Decoding fails if a field is missing.
struct Status: Decodable {
    struct Host: Decodable {
        var host: String
        var pid: Int32
        var state: String
        var capacity: Int
        var intake: Intake
        var workers: [Worker]
    }

    struct Intake: Decodable {
        private var process: Int32?
        var state: String
        var rate: Int
        var restarts: Int
        var rss: Int
        var jobs: Int
        var refused: Int
        var pushes: Int

        /// The process id; 0 if the process does not exist.
        var pid: Int32 { process ?? 0 }

        private enum CodingKeys: String, CodingKey {
            case process = "pid"
            case state, rate, restarts, rss, jobs, refused, pushes
        }
    }

    struct Worker: Decodable {
        var worker: String
        private var process: Int32?
        var state: String
        var shards: Int
        var connections: Int
        var streams: Int
        var rate: Int
        var restarts: Int
        var rss: Int
        var delivered: Int
        var failed: Int

        /// The process id; 0 if the process does not exist.
        var pid: Int32 { process ?? 0 }

        private enum CodingKeys: String, CodingKey {
            case process = "pid"
            case worker, state, shards, connections, streams, rate, restarts, rss, delivered, failed
        }
    }

    struct App: Decodable {
        var app: String
        var state: String
        var pausedReason: String?
        var fullReason: String?
        var open: Int
        var ready: Int
        var inFlight: Int
        var delayed: Int
        var results: Int
        var inbox: Int
        var jobsOpen: Int
    }

    struct Redis: Decodable {
        var version: String
        var memory: Int
        var maxMemory: Int
        var policy: String
    }

    var hosts: [Host]
    var apps: [App]
    var redis: Redis

    init(json: String) throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        self = try decoder.decode(Status.self, from: Data(json.utf8))
    }
}
