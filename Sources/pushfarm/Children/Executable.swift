import Foundation

/// Finds programs on this machine.
enum Executable {
    /// The path of this program's own file.
    static var own: String {
        #if canImport(Darwin)
            var size: UInt32 = 4096
            var path = [CChar](repeating: 0, count: Int(size))
            guard _NSGetExecutablePath(&path, &size) == 0 else { return CommandLine.arguments[0] }
            return String(cString: path)
        #else
            var path = [UInt8](repeating: 0, count: 4096)
            let count = path.withUnsafeMutableBytes { readlink("/proc/self/exe", $0.baseAddress!, $0.count) }
            guard count > 0 else { return CommandLine.arguments[0] }
            return String(decoding: path[..<count], as: UTF8.self)
        #endif
    }

    /// The path of a program. The search uses `PATH` first and then the standard system folders.
    static func find(_ name: String) -> String? {
        let path = ProcessEnvironment.variables["PATH"] ?? ""
        let folders =
            path.split(separator: ":").map(String.init) + ["/usr/local/bin", "/usr/bin", "/opt/homebrew/bin"]
        return folders.map { $0 + "/" + name }.first { access($0, X_OK) == 0 }
    }
}
