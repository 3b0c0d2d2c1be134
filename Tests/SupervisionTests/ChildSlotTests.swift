import ControlChannel
import EventLoop
import FarmHarness
import FarmPolicy
import Foundation
import Logging
import LoopTesting
import Supervision
import Testing

struct ChildSlotTests {
    @Test func `a child that never gets ready is given up and restarted on request`() async throws {
        try await onLoop { () async throws -> Void in
            var policy = RestartPolicy()
            policy.allowedFailedStarts = 1
            let slot = ChildSlot<WorkerMessage, WorkerNotice>(
                role: "none", launch: ChildLaunch(program: "/bin/false", lock: 2, environment: []),
                policy: policy, log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let starts = Mailbox<Int32>()
            let ends = Mailbox<ChildProcess.End?>()
            slot.onStart = { starts.put(slot.pid) }
            slot.onEnd = { ends.put($0) }
            slot.start()
            #expect(try await ends.next() == .exited(1))
            #expect(await until { slot.state == .failed })
            slot.retry()
            #expect(starts.all.count == 2 && slot.state == .starting)
            await slot.stop(within: .seconds(1))
            #expect(slot.state == .stopped && slot.pid == 0)
        }
    }

    @Test func `a retired child that ends is not restarted until it is requested again`()
        async throws
    {
        try await onLoop { () async throws -> Void in
            let slot = ChildSlot<WorkerMessage, WorkerNotice>(
                role: "10", launch: ChildLaunch(program: "/bin/sleep", lock: 2, environment: []),
                log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let ends = Mailbox<ChildProcess.End?>()
            slot.onEnd = { ends.put($0) }
            slot.start()
            slot.retire()
            _ = kill(slot.pid, SIGKILL)
            #expect(try await ends.next() == .killed(signal: SIGKILL))
            #expect(await until { slot.state == .stopped })
            slot.start()
            slot.retry()
            #expect(slot.pid == 0 && slot.restarts == 0)
            slot.startAgain()
            #expect(slot.pid > 0 && slot.state == .starting)
            await slot.stop(within: .zero)
            slot.startAgain()
            #expect(slot.pid > 0)
            await slot.stop(within: .zero)
            #expect(slot.pid == 0)
        }
    }

    @Test func `requested restarts are not counted and outside kills are`() async throws {
        try await onLoop { () async throws -> Void in
            let slot = ChildSlot<WorkerMessage, WorkerNotice>(
                role: "100", launch: ChildLaunch(program: "/bin/sleep", lock: 2, environment: []),
                log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let ends = Mailbox<ChildProcess.End?>()
            slot.onEnd = { ends.put($0) }
            func follows(_ before: Int32) async -> Bool { await until { slot.pid > 0 && slot.pid != before } }
            slot.start()
            var pid = slot.pid
            // `sleep` does not finish when the slot asks it to, so the slot kills it.
            slot.replace(within: .seconds(-3))
            #expect(await follows(pid) && slot.restarts == 0)
            pid = slot.pid
            slot.kill(hasTrace: false)
            #expect(await follows(pid) && slot.restarts == 0)
            pid = slot.pid
            _ = kill(pid, SIGKILL)
            #expect(await follows(pid) && slot.restarts == 1)
            await slot.stop(within: .seconds(-3))
            #expect(slot.restarts == 1)
        }
    }

    @Loop private func slot(_ program: String, role: String = "none", shortage: Duration = .milliseconds(1))
        -> ChildSlot<WorkerMessage, WorkerNotice>
    {
        var policy = RestartPolicy()
        policy.allowedFailedStarts = 1
        return ChildSlot<WorkerMessage, WorkerNotice>(
            role: role, launch: ChildLaunch(program: program, lock: 2, environment: []), policy: policy,
            shortage: BackOff(first: shortage, longest: shortage),
            log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    @Test func `a process that the system cannot start is retried without a count`() async throws {
        try await onLoop { () async throws -> Void in
            let folder = try TestFolder()
            let slot = slot(folder.path + "/program", shortage: .milliseconds(20))
            let ends = Mailbox<ChildProcess.End?>()
            slot.onEnd = { ends.put($0) }
            let before = Self.openDescriptors
            for _ in 0..<300 { slot.start() }
            #expect(slot.state == .backingOff && slot.restarts == 0 && slot.pid == 0)
            #expect(Self.openDescriptors < before + 150, "descriptors are left open")
            try FileManager.default.createSymbolicLink(
                atPath: folder.path + "/program", withDestinationPath: "/bin/false")
            #expect(try await ends.next() == .exited(1))
            await slot.stop(within: .seconds(1))
        }
    }

    private static var openDescriptors: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    }

    @Test(arguments: [(true, EndCause.kill), (false, .crash)])
    func `silence blames no job when the process was stopped from outside`(isStopped: Bool, cause: EndCause)
        async throws
    {
        try await onLoop { () async throws -> Void in
            let slot = slot("/bin/sleep", role: "60")
            let ends = Mailbox<ChildProcess.End?>()
            slot.onEnd = { ends.put($0) }
            slot.start()
            slot.becameReady()
            let stat = "/proc/\(slot.pid)/stat"
            if isStopped {
                #expect(kill(slot.pid, SIGSTOP) == 0)
                #expect(
                    await until {
                        (try? String(contentsOfFile: stat, encoding: .utf8))?.contains(") T ") == true
                    })
            }
            for second in 1...7 { slot.watch(at: .now + .seconds(2 * second)) }
            #expect(try await ends.next() == .killed(signal: SIGKILL))
            #expect(slot.lastEnd == cause)
            await slot.stop(within: .seconds(1))
        }
    }
}
