package import Foundation

/// A child process in its own process group, with no signal blocked. `deinit` kills the whole group.
package final class Child {
    package enum End: Equatable {
        case exited(Int32)
        case killed(Int32)
    }

    package struct CannotStart: Error {
        package let program: String
        package let code: Int32
    }

    package let pid: pid_t
    package let outputFile: String
    package let errorFile: String
    package private(set) var end: End?
    /// The processor time of the process and of the children that it waited for; nil until the process has ended.
    package private(set) var processorTime: Duration?
    private var isDestroyed = false

    /// - Parameters:
    ///   - name: the name of the output files in `folder`, the process's working directory.
    ///   - prefix: a command that replaces itself with the program, such as one that first enters a network namespace.
    package init(
        _ name: String, _ program: String, _ arguments: [String], environment: [String: String] = [:],
        in folder: String, prefix: [String] = []
    ) throws {
        outputFile = "\(folder)/\(name).out"
        errorFile = "\(folder)/\(name).err"
        // Children inherit only the options of sanitizers and of backtraces from the environment of the tests.
        let sanitizers = ProcessInfo.processInfo.environment.filter {
            $0.key.hasSuffix("SAN_OPTIONS") || $0.key == "SWIFT_BACKTRACE"
        }
        // To make a backtrace of a crash takes several seconds of processor time, which other tests need. The process's output
        // shows the cause without a backtrace.
        let defaults = ["SWIFT_BACKTRACE": "enable=no"].merging(sanitizers) { $1 }
            .merging(["PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": folder]) { $1 }
        let variables = defaults.merging(environment) { $1 }.map { "\($0.key)=\($0.value)" }
        let words = prefix + [program] + arguments
        pid = try Self.spawn(words[0], Array(words.dropFirst()), variables, outputFile, errorFile)
        Guardian.shared.watch(pid)
    }

    deinit { destroy() }

    package var output: String { Self.text(outputFile) }
    package var error: String { Self.text(errorFile) }

    package func signal(_ number: Int32) {
        if !hasEnded { _ = kill(pid, number) }
    }

    /// Whether a signal has stopped the process and no signal has continued it.
    package var standsStill: Bool {
        let line = FileManager.default.contents(atPath: "/proc/\(pid)/stat")
        return line.map { String(decoding: $0, as: UTF8.self).contains(") T ") } ?? false
    }

    /// Whether the process has ended.
    package var hasEnded: Bool {
        guard end == nil else { return true }
        var status: Int32 = 0
        var usage = rusage()
        guard wait4(pid, &status, WNOHANG, &usage) == pid else { return false }
        processorTime = Self.duration(usage.ru_utime) + Self.duration(usage.ru_stime)
        note(status)
        return true
    }

    package func wait(within limit: Duration = .seconds(60)) async throws -> End {
        try await eventually("process \(pid) ends", within: limit) { hasEnded ? end : nil }
    }

    /// Kills the process group. Further calls do nothing.
    package func destroy() {
        guard !isDestroyed else { return }
        isDestroyed = true
        _ = kill(-pid, SIGKILL)
        if end == nil {
            var status: Int32 = 0
            while waitpid(pid, &status, 0) < 0, errno == EINTR {}
            note(status)
        }
        Guardian.shared.forget(pid)
    }

    /// Living processes of the group, except the process itself.
    package var descendants: [pid_t] {
        isDestroyed ? [] : ProcessTable.members(ofGroup: pid).filter { $0 != pid }
    }

    private func note(_ status: Int32) {
        end = status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .killed(status & 0x7F)
        // If the group is empty, the system may reuse its number for other processes, so no later signal may go to it.
        if !isDestroyed, kill(-pid, 0) != 0, errno == ESRCH {
            isDestroyed = true
            Guardian.shared.forget(pid)
        }
    }

    private static func duration(_ time: timeval) -> Duration {
        .seconds(time.tv_sec) + .microseconds(time.tv_usec)
    }

    private static func text(_ file: String) -> String {
        (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
    }

    private static func spawn(
        _ program: String, _ arguments: [String], _ variables: [String], _ output: String, _ error: String
    ) throws(CannotStart) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let append = O_WRONLY | O_CREAT | O_APPEND
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, append, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, error, append, 0o600)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Threads that run tests block signals, and a child would inherit the blocked signals.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK))
        let (words, settings) = (CStrings([program] + arguments), CStrings(variables))
        var pid: pid_t = 0
        let code = posix_spawnp(&pid, program, &actions, &attributes, words.pointers, settings.pointers)
        guard code == 0 else { throw CannotStart(program: program, code: code) }
        return pid
    }
}

/// Null-terminated C strings in an array that ends with a null pointer. The strings live as long as this object.
package final class CStrings {
    package let pointers: [UnsafeMutablePointer<CChar>?]

    package init(_ texts: [String]) {
        var pointers: [UnsafeMutablePointer<CChar>?] = []
        for text in texts { pointers.append(strdup(text)) }
        self.pointers = pointers + [nil]
    }

    deinit { for pointer in pointers { free(pointer) } }
}
