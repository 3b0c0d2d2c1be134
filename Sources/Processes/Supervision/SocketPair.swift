package import EventLoop

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The two ends of a control channel.
package enum SocketPair {
    package static func make() throws(LoopError) -> (ours: Int32, theirs: Int32) {
        var pair: [Int32] = [-1, -1]
        #if canImport(Glibc)
            let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        guard socketpair(AF_UNIX, kind, 0, &pair) == 0 else { throw LoopError(code: -errno) }
        return (pair[0], pair[1])
    }
}
