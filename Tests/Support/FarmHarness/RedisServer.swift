import Foundation

/// The redis-server of one test, on a Unix socket.
///
/// The class does not use Foundation's `Process`. Processes that another test starts at the same time may inherit a descriptor of
/// `Process`, and `Process` then waits until those processes have ended too.
package final class RedisServer {
    package let socket: String
    private let folder: String
    /// The folder of a server that stores no data; nil for a server with an append-only file.
    private let ownFolder: TestFolder?
    private let persistence: Persistence
    private let options: [String]
    private let password: String?
    private let user: String?
    private let prefix: [String]
    package private(set) var process: Child

    /// Starts a server with an append-only file, and waits until it is ready.
    ///
    /// - Parameters:
    ///   - user: the name of the Redis user that tests log in as; nil unless the options define users.
    ///   - options: options that are added to the defaults and override them.
    ///   - prefix: the first words of the server's command line.
    package init(
        in folder: String, password: String? = nil, user: String? = nil, options: [String] = [],
        prefix: [String] = []
    ) async throws {
        (self.folder, ownFolder, persistence) = (folder, nil, .appendOnlyFile)
        (self.password, self.user) = (password, user)
        let options = (user == nil ? password.map { ["--requirepass", $0] } ?? [] : []) + options
        (self.options, self.prefix) = (options, prefix)
        socket = folder + "/redis.sock"
        process = try Self.start(folder, .appendOnlyFile, options, prefix)
        try await ready()
    }

    /// Starts a server that stores no data, in its own folder. Returns before the server listens.
    ///
    /// - Parameter options: options that are added to the defaults and override them.
    package init(scratch options: [String]) throws {
        let own = try TestFolder()
        (folder, ownFolder, persistence) = (own.path, own, .none)
        (password, user, prefix) = (nil, nil, [])
        self.options = options
        socket = own.path + "/redis.sock"
        process = try Self.start(own.path, .none, options, [])
    }

    /// Ends the server before its folder is removed.
    deinit { process.destroy() }

    package func client() throws -> BlockingRedisClient {
        let client = try BlockingRedisClient(socket)
        if let password { try client.run(["AUTH"] + [user, password].compactMap { $0 }) }
        return client
    }

    /// Connects as one of the users of the ACL file.
    package func client(as user: String, _ password: String) throws -> BlockingRedisClient {
        let client = try BlockingRedisClient(socket)
        try client.run("AUTH", user, password)
        return client
    }

    /// Kills the server and starts another server on the same data.
    package func crash() async throws {
        try await kill()
        try await restart()
    }

    /// Kills Redis after its data is written. Without this wait, a kill on a slow disk could lose more than the last second of
    /// data, because Redis with `everysec` does not write during an fsync (docs/redis.md).
    package func kill() async throws {
        try await eventually("Redis holds nothing back") { try hasWritten() }
        process.signal(SIGKILL)
        _ = try await process.wait()
    }

    /// Whether Redis has written all acknowledged data to its file. Also true if Redis does not reply.
    private func hasWritten() throws -> Bool {
        guard !process.hasEnded, let client = try? client(),
            let text = try? client.run("INFO", "persistence").text
        else { return true }
        let fields = text.split(separator: "\r\n")
        return ["aof_buffer_length:", "aof_pending_bio_fsync:"].allSatisfy { name in
            fields.first { $0.hasPrefix(name) }.map { $0.hasSuffix(":0") } ?? true
        }
    }

    /// Starts another server on the same data after the previous server has ended.
    package func restart() async throws {
        _ = try await process.wait()
        process = try Self.start(folder, persistence, options, prefix)
        try await ready()
    }

    /// The path of the append-only file with the commands since the start.
    package var appendOnlyFile: String {
        let directory = folder + "/appendonlydir"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return directory + "/" + (names.filter { $0.hasSuffix(".incr.aof") }.max() ?? "")
    }

    /// Waits until the server has loaded its data.
    private func ready() async throws {
        try await eventually("Redis answers") {
            guard let client = try? client() else { return false }
            return (try? client.run("PING"))?.text == "PONG"
        }
    }

    private enum Persistence {
        case appendOnlyFile
        case none

        var options: [String] {
            self == .none ? [] : ["--appendonly", "yes", "--appendfsync", "everysec"]
        }
    }

    private static func start(
        _ folder: String, _ persistence: Persistence, _ options: [String], _ prefix: [String]
    ) throws -> Child {
        try Child(
            "redis", "/bin/sh",
            [
                // A write beyond the size limit must fail like a write to a full disk, and must not end the process.
                "-c", "trap '' XFSZ; exec redis-server \"$@\"", "sh",
                "--port", "0", "--unixsocket", folder + "/redis.sock", "--dir", folder, "--save", "",
                "--maxmemory-policy", "noeviction",
            ] + persistence.options + options, in: folder, prefix: prefix)
    }
}
