import Foundation

/// A redis-server of one test's own, on a unix socket in a temporary folder.
final class TestRedis {
    let socketPath: String
    private let folder: URL
    private let process = Process()

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "pf-" + UUID().uuidString.prefix(8))
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        socketPath = folder.appendingPathComponent("r.sock").path
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "redis-server", "--port", "0", "--unixsocket", socketPath, "--save", "", "--dir", folder.path,
            "--maxmemory-policy", "noeviction",
        ]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
    }

    deinit {
        // A test runs on a thread that blocks signals, and the child inherits that: nothing less ends it.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }
}
