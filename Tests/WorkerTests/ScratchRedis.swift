import Foundation

import class FarmHarness.Child

/// A redis-server of one test's own, on a unix socket in a temporary folder.
final class ScratchRedis {
    let socketPath: String
    private let folder: URL
    /// Not Foundation's `Process`: one of its descriptors leaks into whatever another test starts at the same time, and it
    /// waits until that has ended too.
    private let process: Child

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "pf-" + UUID().uuidString.prefix(8))
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        socketPath = folder.appendingPathComponent("r.sock").path
        process = try Child(
            "redis", "redis-server",
            [
                "--port", "0", "--unixsocket", socketPath, "--save", "", "--dir", folder.path,
                "--maxmemory-policy", "noeviction",
            ], in: folder.path)
    }

    deinit {
        process.destroy()
        try? FileManager.default.removeItem(at: folder)
    }
}
