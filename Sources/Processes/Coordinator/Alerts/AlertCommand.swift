import EventLoop
import Glibc
import Supervision

/// Runs the operator's command for an alert.
/// The command's environment contains only PATH and the fields of the alert, because the coordinator's own variables may be
/// secret.
@Loop enum AlertCommand {
    /// Runs the operator's command and exits with its status. If the coordinator exits first, the script and the
    /// command are killed.
    ///
    /// The coordinator holds the other end of descriptor 3. When the coordinator exits, the `read` of the `keeper`
    /// process ends, and `keeper` kills the process group.
    private static let script = """
        { read -r _ <&3; kill -KILL 0; } & keeper=$!
        /bin/sh -c "$1" 3<&-; status=$?
        kill -KILL $keeper; wait $keeper
        exit $status
        """
    private static let path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

    /// - Returns: why the command failed; nil if it succeeded.
    static func run(
        _ command: String, _ message: AlertMessage, within limit: Duration = .seconds(10)
    ) async -> String? {
        await withCheckedContinuation { continuation in
            var killer: Timer?
            var isLate = false
            do throws(LoopError) {
                let (ours, theirs) = try SocketPair.make()
                defer { close(theirs) }
                let child: ChildProcess
                do throws(LoopError) {
                    child = try ChildProcess(
                        "/bin/sh", arguments: ["sh", "-c", script, "sh", command],
                        environment: [path] + message.environment, directory: "/",
                        descriptors: [nil, nil, nil, theirs], inOwnSession: true
                    ) { child in
                        killer?.stop()
                        // The command has exited. Kill processes that the command has started and that still run.
                        kill(-child.pid, SIGKILL)
                        close(ours)
                        continuation.resume(
                            returning: isLate ? "it took longer than \(limit)" : trouble(child.end))
                    }
                } catch {
                    close(ours)
                    throw error
                }
                killer = Timer {
                    isLate = true
                    kill(-child.pid, SIGKILL)
                }
                killer?.start(after: limit)
            } catch { continuation.resume(returning: "\(error)") }
        }
    }

    private static func trouble(_ end: ChildProcess.End?) -> String? {
        switch end {
        case .exited(0): nil
        case .exited(let status): "it exited with status \(status)"
        case .killed(let signal): "it was killed by signal \(signal)"
        case nil: "its exit status is unknown"
        }
    }
}
