import Foundation
import RESP
import Testing

@testable import FarmStore

/// A redis-server of one test's own, on a unix socket in a temporary folder, with a blocking client.
final class PrivateRedis {
    let socketPath: String
    private let folder: URL
    private let process = Process()
    /// Open as long as the server is wanted: its shell ends it when this process is gone, however it went.
    private let leash: Int32
    private let client: BlockingClient
    private var hashes: [Script: [UInt8]] = [:]
    /// How scripts are loaded.
    var variant = ScriptVariant() {
        didSet { hashes = [:] }
    }

    private static let shell = """
        folder=$1
        shift
        exec 3<&0
        "$@" </dev/null 3<&- &
        read -r nothing <&3
        kill -KILL $!
        rm -rf "$folder"
        """

    init(_ options: [String] = []) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "pushfarm-store-" + UUID().uuidString.prefix(8))
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        socketPath = folder.appendingPathComponent("r.sock").path
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments =
            [
                "-c", Self.shell, "sh", folder.path, "redis-server", "--daemonize", "no", "--port", "0",
                "--unixsocket", socketPath, "--save", "", "--dir", folder.path,
                "--maxmemory-policy", "noeviction",
            ] + options
        process.standardOutput = FileHandle.nullDevice
        var ends: [Int32] = [-1, -1]
        precondition(pipe(&ends) == 0, "no pipe: errno \(errno)")
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        leash = ends[1]
        process.standardInput = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
        try process.run()
        client = try BlockingClient.connect(to: socketPath)
    }

    deinit {
        client.close()
        _ = Foundation.close(leash)
        process.waitUntilExit()
    }

    var address: RedisAddress { RedisAddress(endpoint: .unix(path: socketPath)) }

    /// Another client, such as one that blocks.
    func anotherClient() throws -> BlockingClient { try BlockingClient.connect(to: socketPath) }

    @discardableResult
    func run(_ words: String...) throws -> RESPValue {
        var command = RESPCommand()
        for word in words { command.append(word) }
        return try client.run(command)
    }

    @discardableResult
    func run(_ command: RESPCommand) throws -> RESPValue { try client.run(command) }

    func perform<Step: Request>(_ request: Step, _ keys: Keys) throws -> Step.Reply {
        try Step.result(client.run(try command(request, keys)))
    }

    func command<Step: Request>(_ request: Step, _ keys: Keys) throws -> RESPCommand {
        request.command(keys, hash: try Step.script.map(hash))
    }

    /// The answers to commands that are sent in one go.
    func run(together commands: [RESPCommand]) throws -> [RESPValue] {
        client.send(commands)
        return try commands.map { _ in try client.receive() }
    }

    /// Scripts were flushed.
    func forgetScripts() { hashes = [:] }

    func hash(_ script: Script) throws -> [UInt8] {
        if let hash = hashes[script] { return hash }
        let answer = try client.run(variant.loadCommand(of: script))
        let hash = try #require(answer.bytes, "\(script): \(answer)")
        hashes[script] = hash
        return hash
    }
}

/// The smallest client there is: writes a command, waits for its answer.
final class BlockingClient {
    private let descriptor: Int32
    private let reader = RESPReader()
    private var buffer = [UInt8](repeating: 0, count: 65_536)

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    func close() { _ = Foundation.close(descriptor) }

    /// Tries until the server listens.
    static func connect(to path: String) throws -> BlockingClient {
        let deadline = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < deadline {
            if let client = tryConnect(path) { return client }
            usleep(2000)
        }
        throw RedisError.notConnected(path)
    }

    private static func tryConnect(_ path: String) -> BlockingClient? {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { room in
            room.copyBytes(from: path.utf8.prefix(room.count - 1))
        }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else {
            _ = Foundation.close(descriptor)
            return nil
        }
        return BlockingClient(descriptor)
    }

    func send(_ command: RESPCommand) { send([command]) }

    func send(_ commands: [RESPCommand]) {
        var output: [UInt8] = []
        for command in commands { command.write(into: &output) }
        var sent = 0
        while sent < output.count {
            let count = output.withUnsafeBytes { write(descriptor, $0.baseAddress! + sent, $0.count - sent) }
            guard count > 0 else { return }
            sent += count
        }
    }

    func receive() throws -> RESPValue {
        while true {
            if let value = try reader.next() { return value }
            let count = read(descriptor, &buffer, 65_536)
            guard count > 0 else { throw RedisError.lost("end") }
            try reader.feed(Array(buffer[..<count]))
        }
    }

    /// Whether an answer arrives within this time.
    func hasAnswer(within milliseconds: Int32) -> Bool {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return Foundation.poll(&poll, 1, milliseconds) == 1
    }

    func run(_ command: RESPCommand) throws -> RESPValue {
        send(command)
        return try receive()
    }
}
