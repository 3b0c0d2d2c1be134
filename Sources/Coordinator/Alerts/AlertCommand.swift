import EventLoop

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Runs the operator's command for an alert, which it finds in its environment. Nothing else is in there but a path: what configures
/// a farm may be secret.
@Loop enum AlertCommand {
    /// - Returns: why it did not do what it should; nil when it did.
    static func run(
        _ command: String, _ message: AlertMessage, within limit: Duration = .seconds(10)
    ) async -> String? {
        let environment = ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]
        return await withCheckedContinuation { continuation in
            var killer: Timer?
            var isLate = false
            do throws(LoopError) {
                let child = try ChildProcess(
                    "/bin/sh", arguments: ["sh", "-c", command],
                    environment: environment + message.environment, directory: "/",
                    descriptors: [nil, nil, nil], inOwnSession: true
                ) { child in
                    killer?.stop()
                    // What it left running in its session is not waited for, and does not stay.
                    kill(-child.pid, SIGKILL)
                    let reason: String? =
                        switch child.end {
                        case _ where isLate: "it took longer than \(limit)"
                        case .exited(0): nil
                        case .exited(let status): "it ended with status \(status)"
                        case .killed(let signal): "it was ended by signal \(signal)"
                        case nil: "it is unknown how it ended"
                        }
                    continuation.resume(returning: reason)
                }
                killer = Timer {
                    isLate = true
                    kill(-child.pid, SIGKILL)
                }
                killer?.start(after: limit)
            } catch { continuation.resume(returning: "\(error)") }
        }
    }
}
