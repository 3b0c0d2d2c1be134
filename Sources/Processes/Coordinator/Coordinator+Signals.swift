import EventLoop
import FarmPolicy
import Logging

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What signals do (docs/signals.md). CONT does nothing: stopping a process and continuing it must not change the farm.
extension Coordinator {
    func watchSignals() {
        for number in [SIGTERM, SIGINT] { on(number) { [unowned self] in stop() } }
        on(SIGQUIT) { [unowned self] in stopFast() }
        on(SIGHUP) { [unowned self] in
            // What keeps it from being followed is in the log.
            Loop.task { _ = try? await self.reload() }
        }
        on(SIGUSR1) { [unowned self] in reopenLogs() }
        on(SIGUSR2) { [unowned self] in
            Loop.task {
                do throws(OperationRefusal) { _ = try await self.upgrade(false, nil) } catch {
                    self.log.error("no upgrade", metadata: ["reason": "\(error.reason)"])
                }
            }
        }
        // A terminal sends these by itself: when its window changes, at Control-Z, and when a process in the background uses it.
        guard !hasTerminal else { return }
        on(SIGTTIN) { [unowned self] in scale(by: 1) }
        on(SIGTTOU) { [unowned self] in scale(by: -1) }
        on(SIGTSTP) { [unowned self] in beQuiet() }
        on(SIGWINCH) { [unowned self] in if !isStopping { beDrained() } }
    }

    private func on(_ number: Int32, _ action: @escaping @Loop () -> Void) {
        signals.append(SignalWatcher(number, action))
    }

    private var hasTerminal: Bool {
        let terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard terminal >= 0 else { return false }
        close(terminal)
        return true
    }

    private func reopenLogs() {
        options.reopenLogs()
        for slot in slots { slot.tell(.reopenLogs) }
        intake?.tell(.reopenLogs)
        log.notice("log files reopened")
    }
}
