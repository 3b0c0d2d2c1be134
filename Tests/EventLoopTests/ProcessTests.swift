import EventLoop
import Foundation
import LoopTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct ProcessTests {
    /// Runs a shell command until it exits.
    @Loop private static func end(of command: String, signal number: Int32? = nil) async throws
        -> ChildProcess.End
    {
        let mailbox = Mailbox<ChildProcess.End>()
        let child = try ChildProcess(
            "/bin/sh", arguments: ["sh", "-c", command], descriptors: [nil, nil, nil]
        ) {
            mailbox.put($0.end!)
        }
        #expect(child.pid > 0)
        if let number { child.signal(number) }
        let end = try await mailbox.next()
        #expect(child.end == end)
        child.signal(SIGKILL)  // No signal is sent, because another process may have this id by now.
        #expect(waitpid(child.pid, nil, WNOHANG) == -1 && errno == ECHILD, "a zombie is left")
        return end
    }

    /// Returns the standard output of a shell command.
    @Loop private static func output(
        of command: String, environment: [String]? = nil, directory: String? = nil
    ) async throws -> String {
        var pipe: [Int32] = [0, 0]
        #expect(Foundation.pipe(&pipe) == 0)
        for end in pipe { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let mailbox = Mailbox<ChildProcess.End>()
        let child = try ChildProcess(
            "/bin/sh", arguments: ["sh", "-c", command], environment: environment, directory: directory,
            descriptors: [nil, pipe[1], nil]
        ) { mailbox.put($0.end!) }
        close(pipe[1])
        #expect(try await mailbox.next() == .exited(0))
        _ = child
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = read(pipe[0], &bytes, bytes.count)
        close(pipe[0])
        return String(decoding: bytes[..<max(0, count)], as: UTF8.self)
    }

    @Test(arguments: [0, 1, 75, 255]) func `reports the exit status of a child`(status: Int32) async throws {
        let end = try await onLoop { try await Self.end(of: "exit \(status)") }
        #expect(end == .exited(status))
    }

    @Test(arguments: [SIGTERM, SIGKILL]) func `reports the signal that ended a child`(number: Int32)
        async throws
    {
        let end = try await onLoop { try await Self.end(of: "exec sleep 1000", signal: number) }
        #expect(end == .killed(signal: number))
    }

    @Test func `many children at once are all reported and reaped`() async throws {
        try await onLoop { () async throws -> Void in
            let mailbox = Mailbox<ChildProcess.End>()
            for status in 0..<20 {
                _ = try ChildProcess(
                    "/bin/sh", arguments: ["sh", "-c", "exit \(status)"], descriptors: [nil, nil, nil]
                ) { mailbox.put($0.end!) }
            }
            try await mailbox.wait(until: 20)
            #expect(Set(mailbox.all.map { "\($0)" }).count == 20)
        }
    }

    @Test func `a missing program is an error and starts no child`() async throws {
        try await onLoop { () async throws -> Void in
            #expect(throws: LoopError(code: -ENOENT)) {
                _ = try ChildProcess("/nonexistent", arguments: ["x"], descriptors: []) { _ in }
            }
        }
    }

    @Test func `a child has only the given descriptors in their places`()
        async throws
    {
        try await onLoop { () async throws -> Void in
            var ours: [Int32] = [0, 0]
            #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ours) == 0)
            let lines = try await Self.output(
                of: "readlink /proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2; ls /proc/self/fd"
            ).split(separator: "\n")
            #expect(lines[0] == "/dev/null" && lines[1].hasPrefix("pipe:") && lines[2] == "/dev/null")
            // The check skips descriptor 3, because `ls` itself uses it to read the folder.
            for number in ours where number > 3 { #expect(!lines.dropFirst(3).contains("\(number)")) }
            for number in ours { close(number) }
        }
    }

    @Test func `a child starts with a clean signal mask and with every signal at its default`() async throws {
        let text = try await onLoop { try await Self.output(of: "cat /proc/self/status") }
        for field in ["SigBlk", "SigIgn", "SigCgt"] {
            let line = try #require(text.split(separator: "\n").first { $0.hasPrefix(field) })
            let signals = try #require(UInt64(line.split(separator: "\t")[1], radix: 16))
            #expect(signals & 0x7FFF_FFFF == 0, "\(line)")
        }
    }

    @Test func `a child has the given environment and directory`() async throws {
        let text = try await onLoop {
            try await Self.output(of: "pwd; echo $WORD", environment: ["WORD=here"], directory: "/usr")
        }
        #expect(text == "/usr\nhere\n")
    }

    @Test func `a signal calls the watcher as long as the watcher lives`() async throws {
        try await onLoop { () async throws -> Void in
            let mailbox = Mailbox<String>()
            let first = SignalWatcher(SIGUSR1) { mailbox.put("first") }
            var second: SignalWatcher? = SignalWatcher(SIGUSR1) { mailbox.put("second") }
            kill(getpid(), SIGUSR1)
            try await mailbox.wait(until: 2)
            #expect(Set(mailbox.all) == ["first", "second"])
            _ = second
            second = nil
            kill(getpid(), SIGUSR1)
            try await mailbox.wait(until: 3)
            try await Loop.sleep(for: .milliseconds(1))
            #expect(mailbox.all.count == 3 && mailbox.all.last == "first")
            _ = first
        }
    }
}
