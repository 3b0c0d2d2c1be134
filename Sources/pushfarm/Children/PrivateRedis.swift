import EventLoop

/// The Redis that `up` and `demo` run for themselves: on a Unix socket in the state folder, with an append-only file.
@Loop struct PrivateRedis {
    let service: ChildService
    let socket: String

    /// Starts it and waits until its socket is there.
    static func start(in folder: String, socket: String) async throws(CommandFailure) -> PrivateRedis {
        guard let program = Executable.find("redis-server") else {
            throw .failed(
                "redis-server is not installed: apt-get install redis-server, or name a running Redis with --redis"
            )
        }
        let log = folder + "/redis.log"
        let service = try ChildService(
            "redis-server", role: "private Redis", program: program,
            arguments: [
                "--port", "0", "--unixsocket", socket, "--unixsocketperm", "700", "--dir", folder,
                "--daemonize", "no",
                "--logfile", log, "--appendonly", "yes", "--appendfsync", "everysec", "--save", "",
                "--auto-aof-rewrite-min-size", "256mb", "--maxmemory-policy", "noeviction",
            ], output: 2, log: 2)
        let redis = PrivateRedis(service: service, socket: socket)
        for _ in 0..<500 {
            if let end = service.end {
                throw .failed(
                    "the private Redis \(end.words); its log is \(log)\n\(StateFolder.tail(log, lines: 3))")
            }
            if LocalSocket.accepts(socket) { return redis }
            do { try await Loop.sleep(for: .milliseconds(20)) } catch { break }
        }
        await service.stop(within: .seconds(1))
        throw .failed("the private Redis did not come up within 10 s; its log is \(log)")
    }
}
