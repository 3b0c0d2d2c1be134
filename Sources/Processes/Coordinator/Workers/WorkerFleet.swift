import ControlChannel
import EventLoop
import StoreProtocol
import Supervision

/// The child processes of this host: its workers, by number, and its intake.
@Loop final class WorkerFleet {
    private let context: HostContext
    private(set) var slots: [WorkerSlot] = []
    /// The intake's slot; nil until ``prepare(_:_:)``.
    private(set) var intake: IntakeSlot?
    private var launch: ChildLaunch?
    private var notices: ChildNotices?
    /// The log level that an operator has set for the children: their log lines below this level are dropped. Nil if no
    /// operator has set a level.
    private(set) var logLevel: String?

    init(_ context: HostContext) { self.context = context }

    /// Creates the slots of the intake and the workers, without starting a process.
    func prepare(_ lock: HostLock, _ notices: ChildNotices) {
        let options = context.options
        let launch = ChildLaunch(
            program: options.program, lock: lock.descriptor, environment: options.environment)
        (self.launch, self.notices) = (launch, notices)
        intake = IntakeSlot(host: context.host, launch: launch, notices: notices, log: context.log)
        addSlots(upTo: options.workers)
    }

    /// Starts the intake and the first workers.
    func start(workers: Int) {
        intake?.child.start()
        for slot in slots.prefix(workers) { slot.child.start() }
    }

    /// Adds slots until there are `count` slots. A slot is never removed.
    func addSlots(upTo count: Int) {
        guard let launch, let notices else { return }
        while slots.count < count {
            slots.append(
                WorkerSlot(
                    index: slots.count, host: context.host, launch: launch, notices: notices,
                    log: context.log))
        }
    }

    // MARK: Questions

    var readySlots: [WorkerSlot] { slots.filter(\.child.isReady) }
    var isAnyWorkerReady: Bool { slots.contains(where: \.child.isReady) }
    /// The names in Redis of the running workers, which may have checked out batches.
    var liveWorkers: [String] { slots.filter { $0.child.pid > 0 }.map(\.name) }
    /// The number of the workers' pushes that were settled in the last second.
    var rate: UInt64 { slots.reduce(0) { $0 &+ $1.rate } }

    /// The slots of the first `workers` workers, and further slots only if their process still runs.
    func presentSlots(of workers: Int) -> [WorkerSlot] {
        slots.filter { $0.index < workers || $0.child.pid > 0 }
    }

    /// The numbers of the app in each worker's last heartbeat.
    func heartbeats(of app: String) -> [WorkerNotice.Heartbeat.App] {
        slots.compactMap { slot in slot.heartbeat.apps.first { $0.name == app } }
    }

    /// The app's numbers in the intake's last heartbeat; nil if the intake does not have the app's lease.
    func intakeNumbers(of app: String) -> IntakeNotice.Heartbeat.App? {
        intake?.heartbeat.apps.first { $0.name == app }
    }

    // MARK: Orders

    func sendToWorkers(_ message: WorkerMessage) {
        for slot in slots { slot.child.send(message) }
    }

    func sendToIntake(_ message: IntakeMessage) { intake?.child.send(message) }

    /// Sends the message to one worker that is ready.
    /// - Returns: the worker's name, or nil if no worker is ready.
    func sendToOneWorker(_ message: WorkerMessage) -> String? {
        guard let slot = slots.first(where: \.child.isReady) else { return nil }
        slot.child.send(message)
        return slot.name
    }

    func setLogLevel(_ level: String) {
        logLevel = level
        sendToWorkers(.logLevel(level))
        sendToIntake(.logLevel(level))
    }

    func reopenLogs() {
        sendToWorkers(.reopenLogs)
        sendToIntake(.reopenLogs)
    }

    /// Kills each child whose heartbeats are missing for too long. Call this function at least once a second.
    func killHangingChildren() {
        for slot in slots { slot.child.watch() }
        intake?.child.watch()
    }

    /// Starts the workers that this host no longer starts by itself because their start failed too often.
    func retryFailedWorkers() {
        for slot in slots where slot.child.state == .failed { slot.child.retry() }
    }
}
