import ControlChannel
import EventLoop
import FarmPolicy
import Logging
import LoopTesting
import Supervision
import Testing

struct ChildSlotTests {
    @Test func `a child that never gets ready is given up, and started again when it is wanted`() async throws
    {
        try await onLoop { () async throws -> Void in
            var policy = RestartPolicy()
            policy.allowedFailedStarts = 1
            let slot = ChildSlot<Order, Notice>(
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
            await slot.stop(within: .seconds(1), telling: .finish(withinMilliseconds: 0))
            #expect(slot.state == .stopped && slot.pid == 0)
        }
    }
}
