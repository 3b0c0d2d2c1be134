/// A redis-server of one test's own that keeps nothing: on a Unix socket in a folder of its own, without a file of its data.
///
/// Not Foundation's `Process`: one of its descriptors leaks into whatever another test starts at the same time, and it
/// waits until that has ended too.
package final class ScratchRedis {
    /// Where it listens, soon after its start.
    package let socket: String
    private let folder: TestFolder
    private let process: Child

    /// - Parameter options: beside ours, over which they win.
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
