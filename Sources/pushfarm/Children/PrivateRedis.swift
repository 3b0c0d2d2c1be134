import EventLoop
import POSIX
import Transport

/// The private Redis of `up` and `demo`: it has a Unix socket in the state folder and an append-only file.
@Loop enum PrivateRedis {
    typealias Started = (service: ChildService, port: UInt16?)

    /// Starts Redis on the Unix socket. With a password file, Redis also listens on a free port of 127.0.0.1 and requires the
    /// password.
    static func start(
        in folder: String, socket: String, _ passwordFile: String?
    ) async throws(CommandFailure) -> Started {
        guard let passwordFile else {
            return (try await start(in: folder, socket: socket, more: ["--port", "0"]), nil)
        }
        let password = try password(in: passwordFile)
        // Another process may take a free port before Redis binds it, so up to five ports are tried.
        for _ in 0..<5 {
            guard let port = await LocalSocket.freePort() else { break }
            // Every user can read command line arguments, so the password goes into a file.
            let file = folder + "/redis.conf"
            try StateFolder.write("bind 127.0.0.1\nport \(port)\nrequirepass \(password)\n", to: file)
            do {
                return (try await start(in: folder, socket: socket, more: [file]), port)
            } catch {
                guard await LocalSocket.freePort(port) == nil else { throw error }
            }
        }
        throw .failed("there is no free port on 127.0.0.1 for the private Redis")
    }

    /// Starts Redis and waits until its socket exists.
    private static func start(
        in folder: String, socket: String, more: [String]
    ) async throws(CommandFailure) -> ChildService {
        guard let program = Executable.find("redis-server") else {
            throw .failed(
                "redis-server is not installed: apt-get install redis-server, or choose a running Redis with --redis"
            )
        }
        let log = folder + "/redis.log"
        let service = try ChildService(
            "redis-server", role: "private Redis", program: program,
            arguments: more + [
                "--unixsocket", socket, "--unixsocketperm", "700", "--dir", folder, "--daemonize", "no",
                "--logfile", log, "--appendonly", "yes", "--appendfsync", "everysec", "--save", "",
                "--auto-aof-rewrite-min-size", "256mb", "--maxmemory-policy", "noeviction",
                // `ps` shows the socket path even when Redis also has a port, so the user sees whose Redis this is.
                "--proc-title-template", "{title} {unixsocket}",
            ], output: 2, log: 2)
        if await service.isReady(when: { LocalSocket.accepts(socket) }) { return service }
        if let end = service.end {
            throw .failed(
                "the private Redis \(end.words); its log is \(log)\n\(StateFolder.tail(log, lines: 3))")
        }
        await service.stop(within: .seconds(1))
        throw .failed("the private Redis did not start within 10 s; its log is \(log)")
    }

    /// The password that an earlier start stored in the file. Producers can continue to use this password after a
    /// restart. If the file has no password, the result is a new one.
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

/// Checks sockets and ports of this machine.
enum LocalSocket {
    /// Whether a process listens on this Unix socket.
    static func accepts(_ path: String) -> Bool {
        guard let address = SocketAddress(path: path) else { return false }
        #if canImport(Glibc)
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let descriptor = socket(AF_UNIX, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return address.connect(descriptor) == 0
    }

    /// Finds a free port of 127.0.0.1: the port `wanted`, or any port if `wanted` is 0.
    /// - Returns: the port; nil if it is in use.
    @Loop static func freePort(_ wanted: UInt16 = 0) async -> UInt16? {
        let listener = try? await Listener(.tcp(host: "127.0.0.1", port: wanted), tls: nil) { $0.close() }
        defer { listener?.close() }
        return listener?.address.port
    }
}
