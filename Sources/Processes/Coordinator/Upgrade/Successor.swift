import ControlChannel
import EventLoop
import Glibc
import Supervision

/// The successor of this coordinator: another process of this host with the same host name.
@Loop final class Successor {
    private(set) var isReady = false
    private(set) var isNameClaimed = false
    private(set) var hasEnded = false
    private(set) var how = ""
    private let link: ControlLink<SuccessorMessage, SuccessorNotice>
    private var process: ChildProcess?
    /// Called when the successor's state has changed.
    private let changed: @Loop () -> Void

    var pid: Int32 { process?.pid ?? 0 }

    /// - Parameters:
    ///   - arguments: the arguments that this process was started with.
    ///   - environment: this process's environment. The successor belongs to the same service and needs the same
    ///     environment variables.
    ///   - lock: the host lock, which the successor inherits.
    /// - Throws: why the program cannot be started.
    init(
        _ program: String, arguments: [String], environment: [String], lock: HostLock,
        changed: @escaping @Loop () -> Void
    ) throws(LoopError) {
        let (ours, theirs) = try SocketPair.make()
        defer { close(theirs) }
        self.changed = changed
        link = ControlLink(descriptor: ours, peer: "successor")
        link.onMessage = { [unowned self] notice in
            switch notice {
            case .ready: isReady = true
            case .nameClaimed: isNameClaimed = true
            }
            changed()
        }
        process = try ChildProcess(
            program, arguments: ["pushfarm"] + arguments.dropFirst() + ["--successor"],
            environment: environment,
            descriptors: [nil, 1, 2, theirs, lock.descriptor, lock.own]
        ) { [weak self] process in
            self?.ended(process)
        }
    }

    func send(_ message: SuccessorMessage) { link.send(message) }

    /// Makes the successor hand all leases back and exit. If the successor does not exit in time, kills it: while the
    /// successor runs, the host's locks are taken.
    func abort() {
        guard !hasEnded, let process else { return }
        send(.abort)
        // A successor that is ready may have pushes in flight. It gets more time, so that it can finish them.
        let grace = isReady ? Duration.seconds(60) : .seconds(5)
        Loop.task {
            // If the task is cancelled, the sleep ends early and throws. Ignore this error, so that the successor is
            // killed in any case.
            try? await Loop.sleep(for: grace)
            process.signal(SIGKILL)
        }
    }

    private func ended(_ process: ChildProcess) {
        hasEnded = true
        how = process.end.map { "\($0)" } ?? "?"
        changed()
    }
}
