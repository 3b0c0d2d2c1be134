import ControlChannel
import EventLoop
import FarmPolicy
import Logging
import Transport

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// One worker's place: the process in it now, and when the next one starts after it has ended.
@Loop final class WorkerSlot {
    enum State: String {
        case starting, ready
        case backingOff = "backing-off"
        case failed, stopped
    }

    /// Hears what happens in the slot.
    @Loop protocol Owner: AnyObject {
        /// A process has started; it may be given its first orders.
        func started(_ slot: WorkerSlot)
        func noticed(_ notice: Notice, _ slot: WorkerSlot)
        /// The process `name` has ended; `isCrash` if it was by its own doing, which may have been a push's. The next one
        /// starts after the call returns.
        func ended(_ slot: WorkerSlot, name: String, isCrash: Bool) async
    }

    let index: Int
    private(set) var state = State.stopped
    /// The present process's name in the books, unique for every start.
    private(set) var name = ""
    private(set) var restarts = 0
    var beat = Notice.Beat()
    /// Pushes settled in the last second.
    private(set) var rate: UInt64 = 0

    private let launch: Launch
    private unowned let owner: any Owner
    private let log: Logger
    private var child: ChildProcess?
    private var control: ByteStream?
    private var frames = ControlFrames<Notice>()
    private var policy = RestartPolicy()
    private var random = SystemRandomNumberGenerator()
    private var lastBeat = ContinuousClock.now
    private var isStopping = false
    private var emptied: [CheckedContinuation<Void, Never>] = []

    /// How a worker process is made.
    struct Launch {
        var program: String
        var host: String
        /// Kept open by the worker, so that the host's lock outlives a coordinator that was killed.
        var lock: Int32
        /// What a worker inherits beside the usual, such as how to log.
        var environment: [String]
    }

    /// Without a heartbeat for so long a worker hangs.
    private static let patience = Duration.seconds(10)

    init(index: Int, launch: Launch, owner: any Owner, log: Logger) {
        self.index = index
        self.launch = launch
        self.owner = owner
        self.log = log
    }

    var pid: Int32 { child?.pid ?? 0 }
    var isReady: Bool { state == .ready }

    func start() {
        guard child == nil, !isStopping else { return }
        state = .starting
        name = "\(launch.host)-\(index)-\(Nonce.make())"
        frames = ControlFrames()
        beat = Notice.Beat()
        lastBeat = .now
        do {
            let (ours, theirs) = try Self.socketPair()
            defer { close(theirs) }
            let child = try ChildProcess(
                launch.program, arguments: ["pushfarm", "worker", "\(index)"],
                environment: Self.environment + launch.environment,
                descriptors: [nil, 1, 2, theirs, launch.lock]
            ) { [weak self] child in
                if let self { Task { @Loop in await self.ended(child) } }
            }
            self.child = child
            let stream = ByteStream.adopt(descriptor: ours, peer: "worker \(index)")
            stream.onBytes = { [unowned self] bytes in read(bytes) }
            control = stream
            log.info("worker started", metadata: ["worker": "\(index)", "pid": "\(child.pid)"])
            owner.started(self)
        } catch {
            log.error("cannot start a worker", metadata: ["worker": "\(index)", "error": "\(error)"])
            again()
        }
    }

    func tell(_ order: Order) {
        order.frame.withUnsafeBytes { control?.write($0) }
    }

    /// Looks whether the process still gives signs of life; one that hangs is ended.
    func watch() {
        guard let child, child.end == nil, ContinuousClock.now - lastBeat > Self.patience else { return }
        log.error("worker hangs", metadata: ["worker": "\(index)", "pid": "\(child.pid)"])
        child.signal(SIGKILL)
        lastBeat = .now
    }

    /// Asks the process to finish, and ends it when it does not.
    func stop(within grace: Duration) async {
        isStopping = true
        state = .stopped
        guard child != nil else { return }
        tell(.finish(withinMilliseconds: UInt32(grace.milliseconds)))
        let killer = Timer { [weak self] in self?.child?.signal(SIGKILL) }
        killer.start(after: grace + .seconds(3))
        await withCheckedContinuation { emptied.append($0) }
        killer.stop()
    }

    /// Tries again at once in a slot that was given up.
    func retry() {
        policy.reset()
        if child == nil { start() }
    }

    private func read(_ bytes: UnsafeRawBufferPointer) {
        frames.append(bytes)
        do {
            while let notice = try frames.next() { take(notice) }
        } catch {
            log.error("worker speaks nonsense", metadata: ["worker": "\(index)", "error": "\(error)"])
            child?.signal(SIGKILL)
        }
    }

    private func take(_ notice: Notice) {
        switch notice {
        case .hello:
            policy.ready(at: .now)
            if state == .starting { state = .ready }
        case .beat(let numbers):
            let settled = numbers.delivered + numbers.failed
            rate = settled &- (beat.delivered + beat.failed)
            beat = numbers
        default: break
        }
        lastBeat = .now
        owner.noticed(notice, self)
    }

    private func ended(_ child: ChildProcess) async {
        let isCrash = !isStopping && child.end?.isCrash == true
        let how = child.end.map { "\($0)" } ?? "?"
        log.log(
            level: isStopping || child.end == .exited(0) ? .info : .error, "worker ended",
            metadata: ["worker": "\(index)", "pid": "\(child.pid)", "how": "\(how)"])
        control?.close()
        control = nil
        state = isStopping ? .stopped : .starting
        rate = 0
        await owner.ended(self, name: name, isCrash: isCrash)
        self.child = nil
        for waiter in emptied { waiter.resume() }
        emptied = []
        again()
    }

    private func again() {
        guard !isStopping else { return }
        restarts += 1
        switch policy.ended(at: .now, using: &random) {
        case .giveUp(let starts):
            state = .failed
            log.critical("worker given up", metadata: ["worker": "\(index)", "failed starts": "\(starts)"])
        case .start(let delay):
            guard delay > .zero else { return start() }
            state = .backingOff
            Task { @Loop in
                try await Loop.sleep(for: delay)
                start()
            }
        }
    }

    /// What a worker inherits: nothing that could hold a secret, nothing that makes systemd think it is the service.
    private static let environment: [String] = {
        let names = ["PATH", "LANG", "TZ", "NO_COLOR", "SWIFT_BACKTRACE"]
        return names.compactMap { name in getenv(name).map { "\(name)=\(String(cString: $0))" } }
    }()

    private static func socketPair() throws(LoopError) -> (ours: Int32, theirs: Int32) {
        var pair: [Int32] = [-1, -1]
        #if canImport(Glibc)
            let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        guard socketpair(AF_UNIX, kind, 0, &pair) == 0 else { throw LoopError(code: -errno) }
        return (pair[0], pair[1])
    }
}

extension ChildProcess.End {
    /// By the process's own doing. A signal that only somebody else sends (SIGKILL, SIGTERM, …) accuses no push.
    fileprivate var isCrash: Bool {
        switch self {
        case .exited(let status): status != 0
        case .killed(let signal):
            [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS].contains(signal)
        }
    }
}
