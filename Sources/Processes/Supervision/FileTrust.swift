import Glibc

/// Checks whether other users of this machine can read or change a file.
package enum FileTrust {
    /// An error that tells why a file or folder is not trusted.
    package struct TrustProblem: Error, CustomStringConvertible {
        package let description: String
    }

    /// Why a file is not safe: a predicate for the subject "the file". Nil if no user except root and `user` can change the file.
    package static func trustProblem(owner: UInt32, mode: UInt32, user: UInt32) -> String? {
        guard owner == user || owner == 0 else {
            return "belongs to user \(owner), neither to root nor to user \(user)"
        }
        if mode & 0o002 != 0 { return "can be written by every user" }
        return mode & 0o020 != 0 ? "can be written by its group" : nil
    }

    /// Checks the program that an upgrade starts, and the folders in its path.
    /// - Returns: the path with all links resolved. So a change of a link between this check and the start cannot replace the
    ///   program.
    package static func program(_ path: String) throws(TrustProblem) -> String {
        guard let file = realpath(path, nil).map(takeString) else {
            throw TrustProblem(description: "\(path): \(String(cString: strerror(errno)))")
        }
        let status = try status(of: file)
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw TrustProblem(description: "\(file) is not a file")
        }
        for place in [file, folder(of: file), folder(of: path)] { try check(place) }
        guard access(file, X_OK) == 0 else {
            throw TrustProblem(description: "\(file) cannot be executed: \(String(cString: strerror(errno)))")
        }
        return file
    }

    /// Checks the folder for sockets, locks and logs.
    package static func stateFolder(_ path: String) throws(TrustProblem) {
        guard try status(of: path).st_mode & S_IFMT == S_IFDIR else {
            throw TrustProblem(description: "\(path) is not a folder")
        }
        try check(path)
        var link = stat()
        // A link that belongs to another user is refused: that user could later point it to a different folder.
        guard lstat(path, &link) == 0, link.st_uid == geteuid() || link.st_uid == 0 else {
            throw TrustProblem(
                description: "\(path) is a symbolic link that belongs to the user with id \(link.st_uid)")
        }
    }

    /// Whether every user of this machine can read the file.
    package static func isPublic(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & 0o004 != 0
    }

    /// Whether this process runs as root.
    package static var isRoot: Bool { geteuid() == 0 }

    private static func check(_ path: String) throws(TrustProblem) {
        let status = try status(of: path)
        let reason = trustProblem(owner: status.st_uid, mode: UInt32(status.st_mode), user: geteuid())
        if let reason { throw TrustProblem(description: "\(path) \(reason)") }
    }

    private static func status(of path: String) throws(TrustProblem) -> stat {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw TrustProblem(description: "\(path): \(String(cString: strerror(errno)))")
        }
        return status
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func takeString(_ text: UnsafeMutablePointer<CChar>) -> String {
        defer { free(text) }
        return String(cString: text)
    }
}
