import FarmConfiguration

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Whether this machine lets the farm run.
struct MachineCheck {
    let configuration: FarmConfiguration

    /// A worker holds few descriptors; a coordinator one and a bit a worker. This leaves ample room.
    private static let fewDescriptors: UInt64 = 1024

    var findings: [Finding] { [descriptors, folder] }

    private var descriptors: Finding {
        var limit = rlimit()
        #if canImport(Glibc)
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        #else
            getrlimit(RLIMIT_NOFILE, &limit)
        #endif
        let count = UInt64(limit.rlim_cur)
        return count < Self.fewDescriptors
            ? Finding(
                "file descriptors", .warning, "limit \(count)",
                advice: "ulimit -n 65536, or LimitNOFILE=65536 in the unit.")
            : Finding("file descriptors", .ok, "limit \(count > 1 << 40 ? "none" : String(count))")
    }

    private var folder: Finding {
        let path = configuration.stateDirectory
        do {
            try StateFolder.make(path)
        } catch {
            return Finding(
                "state folder", .failed, error.message, advice: "Make it, owned by the farm's user.")
        }
        var status = stat()
        stat(path, &status)
        return status.st_mode & 0o077 == 0
            ? Finding("state folder", .ok, path)
            : Finding("state folder", .warning, "\(path) is open to other users", advice: "chmod 700 \(path)")
    }
}
