/// The purpose of a function of the worker.
package enum Part: String, Codable, Sendable, CaseIterable {
    case tls = "TLS"
    case http = "HTTP/2 and HPACK"
    case redis = "Redis"
    case batch = "batches and reports"
    case push = "requests, answers, verdicts"
    case loop = "loop and byte streams"
    case kernel = "kernel"
    case memory = "memory: copies, allocation"
    case runtime = "Swift's runtime"
    case rest = "rest"

    /// - Parameters:
    ///   - object: the library or program of the function.
    ///   - symbol: the function's name, mangled or as a library writes it.
    package init(object: String, symbol: String) {
        if let part = Self.objects.first(where: { object.hasPrefix($0.0) }) {
            self = part.1
        } else if let module = Self.modules.first(where: { symbol.contains($0.0) }) {
            self = module.1
        } else if symbol.hasPrefix("swift") || symbol.hasPrefix("_swift") || symbol.hasPrefix("$ss")
            || symbol.hasPrefix("$sS")
        {
            self = .runtime
        } else if object.hasPrefix("libc.") || object.hasPrefix("libc-") {
            self = Self.memoryWords.contains(where: symbol.contains) ? .memory : .rest
        } else {
            self = .rest
        }
    }

    private static let objects: [(String, Part)] = [
        ("[k", .kernel), ("libssl", .tls), ("libcrypto", .tls), ("libnghttp2", .http), ("libhiredis", .redis),
        ("libuv", .loop), ("libpthread", .loop),
    ]

    /// Pieces of mangled names, each with the part that its module belongs to. The first piece that a symbol contains
    /// determines the symbol's part.
    private static let modules: [(String, Part)] = [
        ("3TLS", .tls), ("5HTTP2", .http), ("13StoreProtocol", .redis), ("11RedisClient", .redis),
        ("13RedisProtocol", .redis), ("4RESP", .redis), ("7Gateway", .push),
        ("4APNs", .push), ("10FarmPolicy", .push), ("6Worker", .batch), ("8Delivery", .batch),
        ("9PushModel", .batch),
        ("9Transport", .loop), ("9EventLoop", .loop), ("11Supervision", .loop), ("14ControlChannel", .loop),
    ]

    private static let memoryWords = ["malloc", "free", "realloc", "calloc", "mem", "arena"]
}
