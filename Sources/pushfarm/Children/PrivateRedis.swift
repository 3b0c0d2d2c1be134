import EventLoop
import Foundation

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
        // Another process may take the port before Redis binds it.
        for _ in 0..<5 {
            guard let port = LocalSocket.freePort() else { break }
            // Every user can read command line arguments, so the password goes into a file.
            let file = folder + "/redis.conf"
            try StateFolder.write("bind 127.0.0.1\nport \(port)\nrequirepass \(password)\n", to: file)
            do {
                return (try await start(in: folder, socket: socket, more: [file]), port)
            } catch {
                guard LocalSocket.freePort(port) == nil else { throw error }
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
        for _ in 0..<500 {
            if let end = service.end {
                throw .failed(
                    "the private Redis \(end.words); its log is \(log)\n\(StateFolder.tail(log, lines: 3))")
            }
            if LocalSocket.accepts(socket) { return service }
            do { try await Loop.sleep(for: .milliseconds(20)) } catch { break }
        }
        await service.stop(within: .seconds(1))
        throw .failed("the private Redis did not start within 10 s; its log is \(log)")
    }

    /// The password of the last start, so that producers can keep using it, or else a new password.
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
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { room in
            guard bytes.count < room.count else { return false }
            room.copyBytes(from: bytes)
            return true
        }
        guard fits else { return false }
        #if canImport(Glibc)
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let descriptor = socket(AF_UNIX, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }

    /// A free port of 127.0.0.1: the wanted port, or any port.
    /// - Returns: nil when no port is free.
    static func freePort(_ wanted: UInt16 = 0) -> UInt16? {
        #if canImport(Glibc)
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = wanted.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        return isBound ? UInt16(bigEndian: address.sin_port) : nil
    }
}
