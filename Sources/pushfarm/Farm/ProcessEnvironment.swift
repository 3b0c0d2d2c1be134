#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The process's environment, read without Foundation.
enum ProcessEnvironment {
    static var variables: [String: String] {
        var variables: [String: String] = [:]
        guard var entry = list() else { return variables }
        while let text = entry.pointee {
            let parts = String(cString: text).split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
            entry += 1
        }
        return variables
    }

    /// As `NAME=value`, without what configures a farm.
    static var withoutOurs: [String] {
        variables.filter { !$0.key.hasPrefix("PUSHFARM_") }.map { "\($0.key)=\($0.value)" }.sorted()
    }

    /// As `NAME=value`.
    static var all: [String] { variables.map { "\($0.key)=\($0.value)" }.sorted() }

    static var workingDirectory: String? {
        guard let path = getcwd(nil, 0) else { return nil }
        defer { free(path) }
        return String(cString: path)
    }

    /// A service manager that sets it takes the process's end for the service's; supervisord sets it as well.
    static let supervised = "SUPERVISOR_ENABLED=1"

    private static func list() -> UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? {
        #if canImport(Darwin)
            _NSGetEnviron().pointee
        #else
            environ
        #endif
    }
}
