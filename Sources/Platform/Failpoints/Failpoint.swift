#if FAILPOINTS
    package import EventLoop
    import PushModel

    /// Named points at which a debug build can fail on purpose, for tests. Release builds have no failpoints.
    ///
    /// The variable `PUSHFARM_FAILPOINTS` contains rules (``FailpointRule``), separated by commas; child processes inherit the
    /// variable. If `PUSHFARM_FAILPOINTS_FOLDER` names a folder, each failure creates a file in that folder, so that a rule can
    /// limit its number of failures in all processes together. ``ClockJump`` shifts the host's clock.
    ///
    /// | point | where |
    /// |---|---|
    /// | `redis.STEP.before` | before a step is sent to Redis; `drop`, `error` and `dup` apply |
    /// | `redis.STEP.sent` | after a step is sent, before its reply |
    /// | `redis.STEP.after` | after the reply, before the reply is used; `drop` loses the reply |
    /// | `batch.read` | a worker has read a batch; once for each job of the batch, with the job as the subject |
    /// | `send.before`, `send.after` | before and after a push is given to its connection; the subject is the token in hex |
    /// | `answer` | the outcome of a push is known and not yet processed |
    /// | `batch.done` | Redis has the complete report of a batch, and the worker is about to drop the batch |
    /// | `intake.parse` | before a job from the inbox is parsed; the subject is the job's text |
    @Loop package enum Failpoint {
        /// The action that the caller of ``hit(_:of:)`` must carry out. `hit` itself carries out kill, crash, stop and delay.
        package enum Action: Sendable {
            case pass
            /// The caller does not send the request, or drops its reply.
            case drop
            case dup
            case error
        }

        package nonisolated static let variable = "PUSHFARM_FAILPOINTS"
        package nonisolated static let folderVariable = "PUSHFARM_FAILPOINTS_FOLDER"

        /// The failpoint variables for child processes, as `NAME=value`.
        package nonisolated static let environment: [String] = [
            variable, folderVariable, ClockJump.variable,
        ].compactMap { name in
            FailpointController.value(of: name).map { "\(name)=\($0)" }
        }

        /// Fails at this point if a rule applies. `subject` names the token or the job.
        @discardableResult
        package static func hit(
            _ point: @autoclosure () -> String, of subject: @autoclosure () -> String = ""
        ) -> Action {
            FailpointController.shared?.hit(point(), subject()) ?? .pass
        }

        /// Fails at this point if a rule applies. The subject is the token in hexadecimal.
        package static func hit(_ point: @autoclosure () -> String, token: some Collection<UInt8>) {
            guard let controller = FailpointController.shared, controller.isWatched(point()) else { return }
            _ = controller.hit(point(), Hexadecimal.text(of: token))
        }

        /// Whether a rule names the point. Use this function to skip work that only a failpoint needs, such as making the
        /// subject.
        package static func isWatched(_ point: @autoclosure () -> String) -> Bool {
            FailpointController.shared?.isWatched(point()) ?? false
        }
    }
#endif
