import FarmConfiguration

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Who can write to Redis, and so control the farm. To be asked when Redis has let this process in.
struct RedisAccessCheck {
    let location: RedisLocation

    var finding: Finding {
        let (check, who) = ("redis access", who)
        guard let who else { return Finding(check, .ok, "\(location)") }
        return Finding(
            check, .warning, "\(location) asks for no password: \(who) controls the farm",
            advice:
                "Give Redis users (deploy/users.acl) or a password, and name its file: redis_password_file.")
    }

    /// Nil when a password, or the mode of its socket, keeps others out.
    private var who: String? {
        guard location.password == nil else { return nil }
        switch location.endpoint {
        case .tcp: return "every client that reaches it"
        case .unix(let path):
            let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
            let isOpen = Self.mode(path) & 0o002 != 0 && Self.mode(folder.isEmpty ? "/" : folder) & 0o001 != 0
            return isOpen ? "every user of this machine" : nil
        }
    }

    private static func mode(_ path: String) -> UInt32 {
        var status = stat()
        return stat(path, &status) == 0 ? UInt32(status.st_mode) : 0
    }
}
