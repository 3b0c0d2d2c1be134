import FarmHarness
import Foundation
import Testing

/// Protects a coordinator from the machine's other users. The tests need no Redis.
@Suite(.startsProcesses) struct LocalUserTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        try folder.write("no key", to: "key.p8")
        try folder.write("secret\n", to: "redis.secret")
        try folder.write(
            """
            redis: redis://127.0.0.1:1/0
            redis_password_file: redis.secret
            state_dir: ./var
            metrics: { listen: "unix://\(folder.path)/metrics.sock" }
            apps:
              demo:
                topic: com.example.demo
                gateway: https://127.0.0.1:1
                key: { file: key.p8, id: ABCDEFGHIJ, team: ABCDEFGHIJ }
            """, to: "pushfarm.yaml")
    }

    private func start(_ command: String, mask: String = "022", as name: String? = nil) throws -> Child {
        try Child(
            name ?? command, BuiltProgram.path, [command, "--config", folder.path + "/pushfarm.yaml"],
            in: folder.path, prefix: ["/bin/sh", "-c", "umask \(mask); exec \"$@\"", "sh"])
    }

    private func status(_ name: String) -> stat? {
        var status = stat()
        return lstat(folder.path + "/" + name, &status) == 0 ? status : nil
    }

    @Test(arguments: ["000", "022", "077"])
    func `only the owner may use the control socket, with any umask`(mask: String) async throws {
        let coordinator = try start("coordinator", mask: mask)
        for (name, mode) in [("var/control.sock", UInt32(0o600)), ("metrics.sock", 0o660)] {
            // The coordinator may set the mode a moment after the socket appears.
            try await eventually("\(name) is there, as it should be") {
                guard let status = status(name) else { return false }
                return status.st_mode == S_IFSOCK | mode && status.st_uid == geteuid()
            }
        }
        #expect(try #require(status("var")).st_mode & 0o777 == 0o700)
        coordinator.signal(SIGTERM)
        #expect(try await coordinator.wait() == .exited(0))
    }

    @Test func `a state folder that other users may write is refused`() async throws {
        let state = folder.path + "/var"
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: state)
        let coordinator = try start("coordinator")
        #expect(try await coordinator.wait() == .exited(2))
        #expect(coordinator.error.contains("state_dir: \(state) can be written by every user"))
        let doctor = try start("doctor")
        #expect(try await doctor.wait() == .exited(1))
        #expect(doctor.output.contains("\(state) can be written by every user"), "\(doctor.output)")
    }

    @Test func `a coordinator does not start if a lock file is a link`() async throws {
        let state = folder.path + "/var"
        try FileManager.default.createDirectory(
            atPath: state, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        let victim = try folder.write("precious", to: "victim")
        try FileManager.default.createSymbolicLink(
            atPath: state + "/coordinator.lock", withDestinationPath: victim)
        let coordinator = try start("coordinator")
        #expect(try await coordinator.wait() == .exited(1))
        #expect(coordinator.error.contains("coordinator.lock: it is a link"), "\(coordinator.error)")
        #expect(try String(contentsOfFile: victim, encoding: .utf8) == "precious")
    }

    @Test func `secret files that every user can read are reported`() async throws {
        for (mode, isOpen) in [(0o644, true), (0o640, false)] {
            for name in ["key.p8", "redis.secret"] {
                try FileManager.default.setAttributes(
                    [.posixPermissions: mode], ofItemAtPath: folder.path + "/" + name)
            }
            let doctor = try start("doctor", as: "doctor-\(mode)")
            _ = try await doctor.wait()
            for name in ["key.p8", "redis.secret"] {
                #expect(
                    doctor.output.contains("every user of this machine can read \(folder.path)/\(name)")
                        == isOpen, "\(doctor.output)")
            }
            #expect(doctor.output.contains("runs as root") == (geteuid() == 0))
            let coordinator = try start("coordinator", as: "coordinator-\(mode)")
            try await eventually("it has logged everything before") {
                coordinator.error.contains("metrics at=")
            }
            #expect(
                coordinator.error.contains("every user of this machine can read Redis's password") == isOpen)
            #expect(coordinator.error.contains("running as root") == (geteuid() == 0))
            coordinator.signal(SIGTERM)
            _ = try await coordinator.wait()
        }
    }
}
