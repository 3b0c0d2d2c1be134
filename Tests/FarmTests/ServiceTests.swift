import FarmHarness
import Foundation
import Testing

/// The messages of a coordinator to its service manager (sd_notify).
@Suite(.startsProcesses) struct ServiceTests {
    private static let watchdog = "1000000"

    /// A farm whose coordinator notifies `manager`.
    private static func farm(_ manager: NotifySocket) async throws -> Farm {
        try await Farm(
            Farm.Options(environment: ["NOTIFY_SOCKET": manager.name, "WATCHDOG_USEC": watchdog]))
    }

    @Test
    func `a coordinator notifies its manager when it is ready, reloads and stops, and of its status`()
        async throws
    {
        let folder = try TestFolder()
        let manager = try NotifySocket(folder.path + "/notify")
        let farm = try await Self.farm(manager)
        let ready = try await manager.line("READY=1").number
        let status = try await manager.line("STATUS=1 host, 2 of 2 workers ready", from: ready)
        #expect(status.text.hasSuffix(" pushes/s, 0 open"))
        try await Self.expectChildrenCannotNotify(of: farm)

        farm.coordinator.signal(SIGHUP)
        let reloading = try await manager.line("RELOADING=1", from: status.number)
        let time = try await manager.line("MONOTONIC_USEC=", from: reloading.number)
        #expect(time.number == reloading.number, "one datagram")
        #expect(UInt64(time.text.dropFirst("MONOTONIC_USEC=".count)) ?? .max <= Self.microseconds)
        let again = try await manager.line("READY=1", from: reloading.number + 1)

        // A reload with an invalid file changes no setting, and the coordinator's status message reports the error.
        try farm.folder.write("redis: nonsense://\n", to: "pushfarm.yaml")
        farm.coordinator.signal(SIGHUP)
        let refused = try await eventually("the status line gives the reason") {
            manager.listen()
            return manager.heard.dropFirst(again.number).firstIndex { lines in
                lines.contains { $0.hasPrefix("STATUS=1 host") && $0.contains("configuration refused: ") }
            }
        }

        farm.coordinator.signal(SIGTERM)
        let stopping = try await manager.line("STOPPING=1", from: refused)
        #expect(try await farm.coordinator.wait() == .exited(0))
        _ = try await manager.line("STATUS=stopping", from: stopping.number)
    }

    @Test func `a coordinator notifies its manager without Redis, but not while stopped`() async throws {
        let manager = try NotifySocket("@pushfarm-test-\(UUID())")
        let farm = try await Self.farm(manager)
        let ready = try await manager.line("READY=1").number
        farm.redis.process.signal(SIGKILL)
        _ = try await farm.redis.process.wait()
        let away = try await manager.line("STATUS=Redis is away", from: ready).number
        var sign = try await manager.line("WATCHDOG=1", from: away).number
        for _ in 0..<3 { sign = try await manager.line("WATCHDOG=1", from: sign + 1).number }

        farm.coordinator.signal(SIGSTOP)
        try await eventually("it is stopped") { farm.coordinator.standsStill }
        manager.listen()
        let heard = manager.heard.count
        // The suspension is longer than the watchdog's limit.
        try await Task.sleep(for: .seconds(2))
        manager.listen()
        #expect(manager.heard.count == heard)
        farm.coordinator.signal(SIGCONT)
        _ = try await manager.line("WATCHDOG=1", from: heard)
    }

    @Test func `a start that waits for Redis extends its timeout and does not report ready`() async throws {
        let folder = try TestFolder()
        let manager = try NotifySocket(folder.path + "/notify")
        let gateway = try await Gateway(in: folder.path)
        let file = try folder.write(
            CoordinatorConfiguration(
                redis: "unix://\(folder.path)/none.sock", folder: folder.path, workers: "1",
                apps: [App(gateway.started)]
            ).text,
            to: "pushfarm.yaml")
        let coordinator = try Child(
            "coordinator", BuiltProgram.path, ["coordinator", "--config", file],
            environment: ["NOTIFY_SOCKET": manager.name, "WATCHDOG_USEC": Self.watchdog], in: folder.path)
        let waits = try await manager.line("STATUS=starting: waits for Redis").number
        let more = try await manager.line("EXTEND_TIMEOUT_USEC=", from: waits).number
        _ = try await manager.line("EXTEND_TIMEOUT_USEC=", from: more + 1)
        _ = try await manager.line("WATCHDOG=1", from: more + 1)
        #expect(!manager.heard.joined().contains("READY=1"))
        coordinator.signal(SIGTERM)
        #expect(try await coordinator.wait() == .exited(0))
    }

    /// Expects that child processes cannot notify the manager.
    private static func expectChildrenCannotNotify(of farm: Farm) async throws {
        _ = try await farm.ready()
        let children = farm.coordinator.descendants
        #expect(children.count == 3)
        for child in children {
            let text = ProcessTable.visibleText(of: child)
            #expect(!text.contains("NOTIFY_SOCKET") && !text.contains("WATCHDOG_"), "\(text)")
        }
    }

    private static var microseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
    }
}
