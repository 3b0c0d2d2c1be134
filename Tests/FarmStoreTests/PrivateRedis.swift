import Foundation
import RESP
import Testing

import class FarmHarness.Child
import struct FarmHarness.Guardian

@testable import FarmStore

/// A redis-server of one test's own, on a unix socket in a temporary folder, with a blocking client.
final class PrivateRedis {
    let socketPath: String
    private let folder: URL
    /// Not Foundation's `Process`: one of its descriptors leaks into whatever another test starts at the same time, and it
    /// waits until that has ended too.
    private let process: Child
    private let client: BlockingClient
    private var hashes: [Script: [UInt8]] = [:]
    /// A fault put into a script on purpose.
    var mutant: Mutant?

    init(_ options: [String] = []) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "pushfarm-store-" + UUID().uuidString.prefix(8))
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        Guardian.shared.watch(folder: folder.path)
        socketPath = folder.appendingPathComponent("r.sock").path
        process = try Child(
            "redis", "redis-server",
            [
                "--port", "0", "--unixsocket", socketPath, "--save", "", "--dir", folder.path,
                "--maxmemory-policy", "noeviction",
            ] + options, in: folder.path)
        client = try BlockingClient.connect(to: socketPath)
    }

    deinit {
        client.close()
        process.destroy()
        try? FileManager.default.removeItem(at: folder)
        Guardian.shared.forget(folder: folder.path)
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
        try Step.result(client.run(request.command(keys, hash: try Step.script.map(hash))))
    }

    func hash(_ script: Script) throws -> [UInt8] {
        if let hash = hashes[script] { return hash }
        let answer = try client.run(
            mutant?.loadCommand(of: script) ?? ScriptFolder.loadCommand(of: script) ?? script.loadCommand)
        let hash = try #require(answer.bytes, "\(script): \(answer)")
        hashes[script] = hash
        return hash
    }
}

/// The smallest client there is: writes a command, waits for its answer.
final class BlockingClient {
    private let descriptor: Int32
    private let reader = RESPReader()

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

    func send(_ command: RESPCommand) {
        var output: [UInt8] = []
        command.write(into: &output)
        var sent = 0
        while sent < output.count {
            let count = output.withUnsafeBytes { write(descriptor, $0.baseAddress! + sent, $0.count - sent) }
            guard count > 0 else { return }
            sent += count
        }
    }

    func receive() throws -> RESPValue {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            if let value = try reader.next() { return value }
            let count = read(descriptor, &buffer, buffer.count)
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
