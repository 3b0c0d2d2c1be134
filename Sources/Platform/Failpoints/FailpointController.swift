#if FAILPOINTS
    import EventLoop
    import PushModel
    import POSIX

    /// Applies the failpoint rules in this process.
    @Loop final class FailpointController {
        static let shared: FailpointController? = {
            guard let text = value(of: Failpoint.variable) else { return nil }
            do {
                return FailpointController(
                    try FailpointRule.read(text), folder: value(of: Failpoint.folderVariable))
            } catch {
                // A malformed rule ends the process. Otherwise a test would run without its failures and prove nothing.
                fatalError("\(Failpoint.variable): \(error)")
            }
        }()

        private let rules: [FailpointRule]
        private let folder: String?
        private var draws: [SeededRandom]

        private init(_ rules: [FailpointRule], folder: String?) {
            precondition(
                folder != nil || rules.allSatisfy { $0.most == nil }, "MOST needs \(Failpoint.folderVariable)"
            )
            self.rules = rules
            self.folder = folder
            // Each process has its own random numbers. Otherwise each new worker would fail at the same point as its predecessor.
            draws = rules.map { SeededRandom(seed: $0.seed ^ UInt64(getpid()) << 32) }
        }

        func isWatched(_ point: String) -> Bool { rules.contains { $0.names(point) } }

        func hit(_ point: String, _ subject: @autoclosure () -> String) -> Failpoint.Action {
            for (index, rule) in rules.enumerated() where rule.applies(to: point, subject()) {
                guard draws[index].fraction() < rule.probability, mark(rule, point) else { continue }
                let act = perform(rule.action, point)
                if act != .pass { return act }
            }
            return .pass
        }

        private func perform(_ action: FailpointRule.Action, _ point: String) -> Failpoint.Action {
            switch action {
            case .kill: kill(getpid(), SIGKILL)
            case .crash: fatalError("failpoint \(point)")
            case .stop: kill(getpid(), SIGSTOP)
            case .delay(let milliseconds): usleep(milliseconds * 1000)
            case .drop: return .drop
            case .dup: return .dup
            case .error: return .error
            }
            return .pass
        }

        /// Creates the file that records one failure of the rule. Two processes never create the same file, so each failure of
        /// any process counts toward the limit.
        /// - Returns: false if the rule has reached its limit.
        private func mark(_ rule: FailpointRule, _ point: String) -> Bool {
            guard let folder else { return true }
            let name = "\(folder)/\(rule.point.replacing("*", with: "any"))-\(rule.action.word)"
            for number in 1...(rule.most ?? 100_000) {
                let file = open("\(name).\(number)", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
                if file >= 0 {
                    let line = "\(getpid()) \(point) \(WallClock.seconds)\n"
                    _ = line.withCString { write(file, $0, strlen($0)) }
                    close(file)
                    return true
                }
                precondition(errno == EEXIST, "cannot leave a mark in \(folder): errno \(errno)")
            }
            return false
        }

        nonisolated static func value(of name: String) -> String? {
            getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
        }
    }
#endif
