import EventLoop

/// The Redis that `up` and `demo` run for themselves: on a Unix socket in the state folder, with an append-only file.
@Loop struct PrivateRedis {
    let service: ChildService
    let socket: String
    /// On 127.0.0.1; nil: it listens on the socket only.
    private(set) var port: UInt16?

    /// Starts it behind a password, on a free port too. Another process may take the port before Redis does.
    static func start(
        in folder: String, socket: String, passwordFile: String
    ) async throws(CommandFailure) -> PrivateRedis {
        let password = try password(in: passwordFile)
        for _ in 0..<5 {
            guard let port = LocalSocket.freePort() else { break }
            // Not as an argument: those are everybody's to read.
            let file = folder + "/redis.conf"
            try StateFolder.write("bind 127.0.0.1\nport \(port)\nrequirepass \(password)\n", to: file)
            do {
                var redis = try await start(in: folder, socket: socket, more: [file])
                redis.port = port
                return redis
            } catch {
                guard LocalSocket.freePort(port) == nil else { throw error }
            }
        }
        throw .failed("the private Redis finds no free port on 127.0.0.1")
    }

    /// Starts it on the socket alone.
    static func start(in folder: String, socket: String) async throws(CommandFailure) -> PrivateRedis {
        try await start(in: folder, socket: socket, more: ["--port", "0"])
    }

    /// Waits until its socket is there.
    private static func start(
        in folder: String, socket: String, more: [String]
    ) async throws(CommandFailure) -> PrivateRedis {
        guard let program = Executable.find("redis-server") else {
            throw .failed(
                "redis-server is not installed: apt-get install redis-server, or name a running Redis with --redis"
            )
        }
        let log = folder + "/redis.log"
        let service = try ChildService(
            "redis-server", role: "private Redis", program: program,
            arguments: more + [
                "--unixsocket", socket, "--unixsocketperm", "700", "--dir", folder, "--daemonize", "no",
                "--logfile", log, "--appendonly", "yes", "--appendfsync", "everysec", "--save", "",
                "--auto-aof-rewrite-min-size", "256mb", "--maxmemory-policy", "noeviction",
                // `ps` shows whose it is, also beside a port.
                "--proc-title-template", "{title} {unixsocket}",
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

    /// The one of the last start, so that producers keep it; else a new one.
    private static func password(in file: String) throws(CommandFailure) -> String {
        let known = StateFolder.tail(file, lines: 1)
        if known.utf8.count == 40, known.utf8.allSatisfy({ Self.alphabet.contains($0) }) { return known }
        var random = SystemRandomNumberGenerator()
        let bytes = (0..<40).map { _ in alphabet[Int(random.next(upperBound: UInt(alphabet.count)))] }
        let password = String(decoding: bytes, as: UTF8.self)
        try StateFolder.write(password + "\n", to: file)
        return password
    }

    private static let alphabet = Array("0123456789abcdefghijklmnopqrstuv".utf8)
}
