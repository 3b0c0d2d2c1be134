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
    private let link: ControlLink<SuccessionOrder, SuccessionNotice>
    private var process: ChildProcess?
    /// Called when the successor's state has changed.
    private let changed: @Loop () -> Void

    var pid: Int32 { process?.pid ?? 0 }

    /// - Parameters:
    ///   - arguments: the arguments that this process was started with.
    ///   - environment: this process's environment, because the successor is the same service.
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

    func send(_ order: SuccessionOrder) { link.send(order) }

    /// Makes the successor hand everything back and exit. It is killed if it does not, because it holds the host's locks.
    func abort() {
        guard !hasEnded, let process else { return }
        send(.abort)
        // A successor that is ready gets time to finish its pushes in flight.
        let grace = isReady ? Duration.seconds(60) : .seconds(5)
        Loop.task {
            // The successor is killed even if this wait is cancelled.
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
