import Testing

import struct FarmHarness.Guardian

@testable import pushfarm

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// A run of the built program, started like users start it. Foundation's `Process` is not used: descriptors of one child can leak
/// into another child that is started at the same time, and then `Process` waits forever.
final class ProgramRun {
    struct Result {
        let status: Int32
        let output: String
        let error: String
    }

    let pid: pid_t
    private let watched: [String]
    /// The standard output is a named pipe and the standard error is a file. Unlike a plain pipe, neither can leak into a
    /// child that another test starts at the same time.
    private let output: Int32
    private let folder: String
    private var hasEnded = false

    /// The path of the program beside the test bundle.
    private static var file: String {
        var path = [UInt8](repeating: 0, count: 4096)
        let count = path.withUnsafeMutableBytes { readlink("/proc/self/exe", $0.baseAddress!, $0.count) }
        let bundle = count > 0 ? String(decoding: path[..<count], as: UTF8.self) : CommandLine.arguments[0]
        return bundle.prefix(through: bundle.lastIndex(of: "/") ?? bundle.startIndex) + "pushfarm"
    }

    /// Starts the program with no environment except `variables` and the variables of a built-in sanitizer.
    init(_ arguments: [String], _ variables: [String: String] = [:]) throws {
        let folder = try StateFolder.temporary()
        try #require(mkfifo(folder + "/output", 0o600) == 0)
        output = open(folder + "/output", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        _ = fcntl(output, F_SETFL, 0)
        self.folder = folder
        // A farm that leads its own session is found by its working folder.
        watched = [folder] + zip(arguments, arguments.dropFirst()).filter { $0.0 == "--state-dir" }.map(\.1)
        for folder in watched { Guardian.shared.watch(folder: folder) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, folder + "/output", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 2, folder + "/error", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        var words = (["pushfarm"] + arguments).map { strdup($0) } + [nil]
        let names = ["ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS", "SWIFT_BACKTRACE"]
        let sanitizers = names.compactMap { (name: String) -> (String, String)? in
            getenv(name).map { (name, String(cString: $0)) }
        }
        var environment = variables.merging(sanitizers) { $1 }.map { strdup("\($0)=\($1)") } + [nil]
        defer { for word in words + environment { free(word) } }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, Self.file, &actions, nil, &words, &environment)
        self.pid = pid
        hasEnded = code != 0
        try #require(code == 0, "\(Self.file): \(String(cString: strerror(code)))")
    }

    deinit {
        if !hasEnded { kill(pid, SIGKILL) }
        close(output)
        StateFolder.remove(folder)
        for folder in watched { Guardian.shared.forget(folder: folder) }
    }

    /// Starts the program and waits until it exits.
    static func run(_ arguments: [String], _ variables: [String: String] = [:]) throws -> Result {
        try ProgramRun(arguments, variables).wait()
    }

    func signal(_ number: Int32) { kill(pid, number) }

    /// The next line of output with its line feed. At the end of the output the text is shorter.
    func nextLine() -> String {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while read(output, &byte, 1) == 1 {
            line.append(byte)
            if byte == UInt8(ascii: "\n") { break }
        }
        return String(decoding: line, as: UTF8.self)
    }

    /// Waits until the program exits.
    func wait() -> Result {
        let text = Self.readAll(output)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        hasEnded = true
        let code = status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F)
        let error = open(folder + "/error", O_RDONLY | O_CLOEXEC)
        defer { close(error) }
        return Result(status: code, output: text, error: Self.readAll(error))
    }

    private static func readAll(_ descriptor: Int32) -> String {
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(descriptor, &part, part.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += part[..<count]
        }
    }
}
