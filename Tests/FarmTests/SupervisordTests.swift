import FarmHarness
import Foundation
import Testing

/// Runs deploy/supervisord.conf with a real supervisord.
@Suite(.startsProcesses) struct SupervisordTests {
    @Test
    func
        `supervisord restarts a killed coordinator, but not one that exits or has an invalid configuration`()
        async throws
    {
        let farm = try await Supervised()
        let first = try await farm.running()
        try await farm.push("one", count: 100)

        kill(first, SIGKILL)
        try await eventually("another one is running") {
            guard let pid = try await farm.status("RUNNING") else { return false }
            return pid != first && pid > 0
        }
        try await farm.push("two", count: 100)

        // An upgrade must be refused: supervisord would not know the successor and would treat the predecessor's exit as the end
        // of the service.
        let upgrade = try Child(
            "upgrade", BuiltProgram.path,
            ["upgrade", "all", "--config", farm.folder.path + "/etc/pushfarm.yaml"], in: farm.folder.path)
        #expect(try await upgrade.wait() == .exited(1))
        #expect(
            upgrade.output.contains("restart the service there instead"),
            "\(upgrade.output)\(upgrade.error)")

        // The log is rotated while the coordinator runs.
        try await farm.rotate()
        try await farm.control("signal", "HUP", "pushfarm")
        try await eventually("the new file is written to") {
            farm.log("pushfarm.log").contains("configuration reloaded")
        }
        #expect(farm.log("pushfarm.log.1").contains("coordinator ready"))

        try await farm.control("stop", "pushfarm")
        _ = try await farm.status("STOPPED")
        #expect(farm.log("pushfarm.log").contains("coordinator stopped"))

        try farm.folder.write("redis: nonsense\n", to: "etc/pushfarm.yaml")
        try await farm.control("start", "pushfarm")
        _ = try await eventually("it has ended with a status that is expected") {
            try await farm.status("EXITED")
        }
        let ends = farm.log("pushfarm.log").components(separatedBy: "etc/pushfarm.yaml:1").count
        // supervisord checks its programs every second, so within 3 seconds it would restart the coordinator if it wanted to.
        try await Task.sleep(for: .seconds(3))
        #expect(farm.log("pushfarm.log").components(separatedBy: "etc/pushfarm.yaml:1").count == ends)
        _ = try await farm.status("EXITED")
        try await farm.end()
    }
}

/// A supervisord for one test.
/// It runs the program section of deploy/supervisord.conf, with the Redis and the gateway of a test farm.
private final class Supervised {
    let folder: TestFolder
    private let redis: RedisServer
    private let gateway: Gateway
    private let supervisor: Child
    private var commands = 0

    init() async throws {
        folder = try TestFolder()
        redis = try await RedisServer(in: folder.path)
        gateway = try await Gateway(in: folder.path)
        for name in ["etc", "log"] {
            try FileManager.default.createDirectory(
                atPath: folder.path + "/" + name, withIntermediateDirectories: true)
        }
        try folder.write(
            CoordinatorConfiguration(
                redis: "unix://" + redis.socket, folder: folder.path, workers: "1",
                apps: [App(gateway.started)]
            ).text,
            to: "etc/pushfarm.yaml")
        let program = try Self.text("supervisord.conf", in: folder)
        try folder.write(
            """
            [unix_http_server]
            file=\(folder.path)/supervisor.sock
            [supervisord]
            nodaemon=true
            pidfile=\(folder.path)/supervisord.pid
            logfile=\(folder.path)/supervisord.log
            [rpcinterface:supervisor]
            supervisor.rpcinterface_factory = supervisor.rpcinterface:make_main_rpcinterface
            [supervisorctl]
            serverurl=unix://\(folder.path)/supervisor.sock

            """ + program, to: "supervisord.conf")
        try folder.write(try Self.text("logrotate", in: folder), to: "logrotate.conf")
        chmod(folder.path + "/logrotate.conf", 0o644)
        supervisor = try Child(
            "supervisord", "supervisord", ["-c", folder.path + "/supervisord.conf"], in: folder.path)
    }

    /// Ends supervisord's programs, which lead their own process groups.
    deinit {
        supervisor.destroy()
        for pid in coordinators { kill(pid, SIGKILL) }
    }

    private var coordinators: [pid_t] {
        ProcessTable.naming(folder: folder.path).filter { ProcessTable.isAbout("coordinator", $0) }
    }

    /// The text of a file of deploy/, with the paths and the user of the test.
    private static func text(_ name: String, in folder: TestFolder) throws -> String {
        let file = Repository.root.appendingPathComponent("deploy/" + name)
        var text = try String(contentsOf: file, encoding: .utf8)
        for (path, own) in [
            ("/usr/bin/pushfarm", BuiltProgram.path), ("/etc/pushfarm", folder.path + "/etc"),
            ("/var/lib/pushfarm", folder.path + "/var"), ("/var/log/pushfarm", folder.path + "/log"),
            ("/run/supervisord.pid", folder.path + "/supervisord.pid"),
            ("user=pushfarm", "user=" + NSUserName()),
        ] {
            text = text.replacingOccurrences(of: path, with: own)
        }
        return text
    }

    func log(_ name: String) -> String {
        (try? String(contentsOfFile: folder.path + "/log/" + name, encoding: .utf8)) ?? ""
    }

    // MARK: supervisorctl

    @discardableResult
    func control(_ words: String...) async throws -> String {
        commands += 1
        let child = try Child(
            "supervisorctl-\(commands)", "supervisorctl",
            ["-c", folder.path + "/supervisord.conf"] + words, in: folder.path)
        _ = try await child.wait()
        return child.output + child.error
    }

    /// The coordinator's process id: 0 if no process runs, nil if supervisord reports a state other than `state`.
    func status(_ state: String) async throws -> pid_t? {
        let words = try await control("status").split { $0 == " " || $0 == "," || $0 == "\n" }.map(
            String.init)
        guard words.dropFirst().first == state else { return nil }
        return words.firstIndex(of: "pid").flatMap { pid_t(words[$0 + 1]) } ?? 0
    }

    func running() async throws -> pid_t {
        try await eventually("supervisord runs it") {
            guard let pid = try await status("RUNNING"), pid > 0 else { return nil }
            return pid
        }
    }

    func rotate() async throws {
        let rotate = try Child(
            "logrotate", "logrotate",
            ["--force", "--state", folder.path + "/logrotate.state", folder.path + "/logrotate.conf"],
            in: folder.path)
        let end = try await rotate.wait()
        #expect(end == .exited(0), "\(rotate.error)")
    }

    /// Delivers this number of pushes, and checks the gateway's count.
    func push(_ id: String, count: Int) async throws {
        let before = try gateway.requestCount()
        try redis.client().run("RPUSH", "pushfarm:demo", Job(id: id, tokens: Tokens.make(count)).text)
        try await eventually("\(count) pushes come") { try gateway.requestCount() == before + count }
    }

    func end() async throws {
        supervisor.signal(SIGTERM)
        let end = try await supervisor.wait()
        #expect(end == .exited(0))
        #expect(coordinators.isEmpty)
    }
}
