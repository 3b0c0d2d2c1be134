import CLibuv
import POSIX
import Synchronization

/// Runs the jobs of ``Loop`` between two polls of libuv's default loop.
///
/// A job is nearly always enqueued by the loop's own thread. The mutex is there for the rest: a task that a
/// test starts elsewhere, a cancellation handler.
///
/// It is also the executor that the product's tasks prefer. A continuation resumes where its task has no actor to be on,
/// which by default is a pool of threads: there and back, that would be two more threads to wake for each await.
final class LoopExecutor: SerialExecutor, TaskExecutor {
    static let shared = LoopExecutor()

    private let jobs = Mutex<[UnownedJob]>([])
    private let thread = Atomic<UInt>(0)
    private let hooks: LoopHooks

    private init() {
        hooks = LoopHooks()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        if !isOnLoopThread { hooks.wakeFromAnotherThread() }
    }

    func checkIsolated() {
        precondition(isOnLoopThread, "this must run on the event loop")
    }

    func isIsolatingCurrentContext() -> Bool? { isOnLoopThread }

    var isOnLoopThread: Bool {
        thread.load(ordering: .relaxed) == Self.currentThread
    }

    func adoptCurrentThread() {
        thread.store(Self.currentThread, ordering: .relaxed)
        // A peer that goes away is an error of the write that meets it, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
    }

    @Loop func atEndOfTurn(_ listener: any TurnListener) {
        hooks.listeners.append(LoopHooks.Listener(object: listener))
    }

    /// Runs what is due before the loop waits: jobs, then listeners, until there is neither, or for so many
    /// rounds that sockets must have their turn.
    @Loop func finishTurn() {
        for _ in 0..<64 {
            let due = jobs.withLock { jobs in
                let due = jobs
                jobs.removeAll(keepingCapacity: due.isEmpty)
                return due
            }
            for job in due {
                job.runSynchronously(
                    isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
            }
            if due.isEmpty && hooks.listeners.isEmpty { return hooks.allowWaiting() }
            swap(&hooks.listeners, &hooks.called)
            for listener in hooks.called { listener.object?.loopTurnEnded() }
            hooks.called.removeAll(keepingCapacity: true)
        }
        hooks.forbidWaiting()
    }

    private static var currentThread: UInt {
        #if canImport(Glibc)
            UInt(pthread_self())
        #else
            UInt(bitPattern: pthread_self())
        #endif
    }
}
