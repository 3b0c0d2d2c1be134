#if FAILPOINTS
    package import EventLoop
    import PushModel

    /// Named places in the program at which a debug build can be told to fail. Release builds have none.
    ///
    /// The variable `PUSHFARM_FAILPOINTS` has the rules (``FailpointRule``), separated by commas; children inherit it. With
    /// `PUSHFARM_FAILPOINTS_FOLDER` each failure creates a file there, so that a rule can limit its number of failures in all
    /// processes together. ``ClockJump`` shifts the host's clock.
    ///
    /// | point | where |
    /// |---|---|
    /// | `redis.STEP.before` | before a step is sent to Redis; `drop`, `error` and `dup` apply |
    /// | `redis.STEP.sent` | after it has left, before its answer |
    /// | `redis.STEP.after` | after its answer, before anything is made of it; `drop` loses the answer |
    /// | `batch.read` | a worker has got a batch; once for each job in it, the subject |
    /// | `send.before`, `send.after` | around handing a push to its connection; the subject is the token in hex |
    /// | `answer` | a push's fate is known, and nothing made of it |
    /// | `batch.done` | Redis has all of a batch, which is about to be let go |
    /// | `intake.parse` | before a taken job is parsed; the subject is its text |
    @Loop package enum Failpoint {
        /// What the caller has to do. Kill, crash, stop and delay have happened when ``hit(_:of:)`` returns.
        package enum Act: Sendable {
            case pass
            /// The call or its answer is lost.
            case drop
            case dup
            case error
        }

        package nonisolated static let variable = "PUSHFARM_FAILPOINTS"
        package nonisolated static let folderVariable = "PUSHFARM_FAILPOINTS_FOLDER"

        /// The environment of children, as `NAME=value`.
        package nonisolated static let environment: [String] = [
            variable, folderVariable, ClockJump.variable,
        ].compactMap { name in
            FailpointController.value(of: name).map { "\(name)=\($0)" }
        }

        /// Fails here if a rule applies. `subject` names the token or the job of this hit.
        @discardableResult
        package static func hit(
            _ point: @autoclosure () -> String, of subject: @autoclosure () -> String = ""
        ) -> Act {
            FailpointController.shared?.hit(point(), subject()) ?? .pass
        }

        /// Fails here if a rule applies; the subject is the bytes in hexadecimal.
        package static func hit(_ point: @autoclosure () -> String, token: some Collection<UInt8>) {
            guard let controller = FailpointController.shared, controller.isWatched(point()) else { return }
            _ = controller.hit(point(), Hexadecimal.text(of: token))
        }

        /// Whether a rule names the point, for work that only a failure needs.
        package static func isWatched(_ point: @autoclosure () -> String) -> Bool {
            FailpointController.shared?.isWatched(point()) ?? false
        }
    }
#endif
