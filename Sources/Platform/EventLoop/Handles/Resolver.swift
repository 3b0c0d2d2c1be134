import CLibuv
import POSIX

/// Looks up host names without blocking the loop. Results are not cached.
@Loop package enum Resolver {
    /// - Returns: every address of the host, IPv4 and IPv6, in the resolver's order of preference; not empty.
    /// - Throws: ``LoopError`` with the resolver's reason.
    package static func resolve(host: String, port: UInt16) async throws(LoopError) -> [SocketAddress] {
        let result = await withCheckedContinuation { continuation in
            Lookup(continuation).start(host: host, port: port)
        }
        return try result.get()
    }

    /// A running `uv_getaddrinfo` request. The object keeps itself alive until libuv calls back.
    @Loop private final class Lookup {
        private let continuation: CheckedContinuation<Result<[SocketAddress], LoopError>, Never>
        private let request = UnsafeMutablePointer<uv_getaddrinfo_t>.allocate(capacity: 1)

        init(_ continuation: CheckedContinuation<Result<[SocketAddress], LoopError>, Never>) {
            self.continuation = continuation
        }

        isolated deinit { request.deallocate() }

        func start(host: String, port: UInt16) {
            var hints = addrinfo()
            hints.ai_family = AF_UNSPEC
            #if canImport(Glibc)
                hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
            #else
                hints.ai_socktype = SOCK_STREAM
            #endif
            hints.ai_flags = AI_NUMERICSERV
            request.pointee.data = Unmanaged.passRetained(self).toOpaque()
            let status = uv_getaddrinfo(
                uv_default_loop(), request,
                { request, status, list in
                    let lookup = Unmanaged<Lookup>.fromOpaque(request!.pointee.data).takeRetainedValue()
                    lookup.finish(status, list)
                    uv_freeaddrinfo(list)
                }, host, String(port), &hints)
            if status != 0 {
                Unmanaged.passUnretained(self).release()
                continuation.resume(returning: .failure(LoopError(code: status)))
            }
        }

        private func finish(_ status: Int32, _ list: UnsafeMutablePointer<addrinfo>?) {
            guard status == 0 else {
                continuation.resume(returning: .failure(LoopError(code: status)))
                return
            }
            var addresses: [SocketAddress] = []
            var next = list
            while let entry = next {
                if let address = entry.pointee.ai_addr {
                    addresses.append(SocketAddress(copying: address, length: entry.pointee.ai_addrlen))
                }
                next = entry.pointee.ai_next
            }
            continuation.resume(
                returning: addresses.isEmpty
                    ? .failure(LoopError(code: UV_EAI_NONAME.rawValue)) : .success(addresses))
        }
    }
}
