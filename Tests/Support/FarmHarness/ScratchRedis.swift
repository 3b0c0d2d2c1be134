/// The redis-server of one test that stores nothing on disk. It listens on a Unix socket in its own folder.
///
/// Not Foundation's `Process`: one of its descriptors leaks into processes that other tests start at the same time, and it waits
/// until they have ended, too.
package final class ScratchRedis {
    /// Where it listens, soon after its start.
    package let socket: String
    private let folder: TestFolder
    private let process: Child

    /// - Parameter options: added to ours; they win.
    package init(_ options: [String] = []) throws {
        folder = try TestFolder()
        socket = folder.path + "/redis.sock"
        process = try Child(
            "redis", "redis-server",
            [
                "--port", "0", "--unixsocket", socket, "--save", "", "--dir", folder.path,
                "--maxmemory-policy", "noeviction",
            ] + options, in: folder.path)
    }

    /// Before the folder is removed.
    deinit { process.destroy() }
}
