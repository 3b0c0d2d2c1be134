import CLibuv
import POSIX
import Synchronization

/// Runs the jobs of ``Loop`` between two polls of libuv's default loop.
///
/// The loop's own thread enqueues nearly all jobs. The mutex protects against other threads, such as a task that a
/// test starts elsewhere or a cancellation handler.
///
/// The program's tasks also have this executor as their preferred executor. Otherwise a task without an actor would resume on a
/// thread pool, and each `await` would wake two more threads.
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
        // Without this call, a write to a closed connection would send SIGPIPE, whose default action ends the process. After this
        // call, the write returns an error.
        signal(SIGPIPE, SIG_IGN)
    }

    @Loop func atEndOfTurn(_ listener: any TurnListener) {
        hooks.listeners.append(LoopHooks.Listener(object: listener))
    }

    /// Runs the due jobs and then calls the listeners before the loop polls. Repeats this while there are new jobs or listeners,
    /// but at most 64 times, so that the loop also serves the sockets.
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
