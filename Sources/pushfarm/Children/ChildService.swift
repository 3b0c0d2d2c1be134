import EventLoop

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A process that a command started and will end.
@Loop final class ChildService {
    /// What it is called in messages.
    let role: String
    /// Called once, when it ends.
    var onEnd: (@Loop (ChildService) -> Void)?
    private var process: ChildProcess?
    private var waiters: [CheckedContinuation<Void, Never>] = []

    /// - Parameters:
    ///   - name: what `ps` shows.
    ///   - arguments: without the program's name.
    ///   - environment: nil is ours.
    ///   - output, log: its standard output and standard error.
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

    /// Nil while it runs.
    var end: ChildProcess.End? { process?.end }

    func signal(_ number: Int32) { process?.signal(number) }

    /// Waits until it has ended.
    func wait() async {
        guard end == nil else { return }
        await withCheckedContinuation { waiters.append($0) }
    }

    /// Asks it to end, and ends it by force when it has not done so in time.
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
    /// As in "the coordinator …".
    var words: String {
        switch self {
        case .exited(let status): "ended with status \(status)"
        case .killed(let signal): "was killed by signal \(signal)"
        }
    }
}
