import EventLoop
import POSIX

/// A child process that a command starts and stops.
@Loop final class ChildService {
    /// The name of the process in messages.
    let role: String
    /// Called once, when the process exits.
    var onEnd: (@Loop (ChildService) -> Void)?
    private var process: ChildProcess?
    private var waiters: [CheckedContinuation<Void, Never>] = []

    /// - Parameters:
    ///   - name: what `ps` shows.
    ///   - arguments: the arguments without the program's name.
    ///   - environment: the child's environment, or nil for this process's environment.
    ///   - output, log: the child's standard output and standard error.
    init(
        _ name: String, role: String, program: String, arguments: [String], environment: [String]? = nil,
        output: Int32, log: Int32
    ) throws(CommandFailure) {
        self.role = role
        do {
            process = try ChildProcess(
                program, arguments: [name] + arguments, environment: environment,
                descriptors: [nil, output, log], inOwnSession: true
            ) { [weak self] _ in self?.ended() }
        } catch {
            throw .failed("\(program) cannot be started: \(error)")
        }
    }

    var pid: Int32 { process?.pid ?? 0 }

    /// The way the process ended, or nil while it runs.
    var end: ChildProcess.End? { process?.end }

    func signal(_ number: Int32) { process?.signal(number) }

    /// Waits up to 10 seconds until `check` succeeds. Returns false after 10 seconds, or as soon as the process
    /// exits.
    func isReady(when check: () -> Bool) async -> Bool {
        for _ in 0..<500 where end == nil {
            if check() { return true }
            do { try await Loop.sleep(for: .milliseconds(20)) } catch { break }
        }
        return false
    }

    /// Waits until the process has exited.
    func wait() async {
        guard end == nil else { return }
        await withCheckedContinuation { waiters.append($0) }
    }

    /// Asks the process to exit, and kills it when it has not exited within the limit.
    func stop(within limit: Duration) async {
        guard end == nil else { return }
        signal(SIGTERM)
        let force = Timer { [weak self] in self?.signal(SIGKILL) }
        force.start(after: limit)
        await wait()
        force.stop()
    }

    private func ended() {
        onEnd?(self)
        for waiter in waiters { waiter.resume() }
        waiters.removeAll()
    }
}

extension ChildProcess.End {
    /// The name of the process in a sentence, as in "the coordinator …".
    var words: String {
        switch self {
        case .exited(let status): "ended with status \(status)"
        case .killed(let signal): "was killed by signal \(signal)"
        }
    }
}
