import EventLoop
import Glibc

/// Handles signals (docs/signals.md). There is no handler for SIGCONT, because it must be possible to suspend and
/// continue a process without other effects.
@Loop final class SignalHandlers {
    private unowned let context: HostContext
    private var watchers: [SignalWatcher] = []

    init(_ context: HostContext) { self.context = context }

    func install() {
        for number in [SIGTERM, SIGINT] { on(number) { [unowned self] in context.shutdown.stop() } }
        on(SIGQUIT) { [unowned self] in context.shutdown.stopFast() }
        on(SIGHUP) { [unowned self] in
            // The error is ignored, because the log already says why the configuration was refused.
            Loop.task { _ = try? await self.context.reload.run() }
        }
        on(SIGUSR1) { [unowned self] in reopenLogs() }
        on(SIGUSR2) { [unowned self] in
            Loop.task {
                do throws(OperationRefusal) { _ = try await self.context.upgrade.run(false, nil) } catch {
                    self.context.log.error("upgrade refused", metadata: ["reason": "\(error.reason)"])
                }
            }
        }
        // A terminal sends the signals below to its processes, for example when its window changes or at Control-Z.
        // These signals are not commands of an operator, so a process with a terminal does not handle them.
        guard !hasTerminal else { return }
        on(SIGTTIN) { [unowned self] in context.scaling.change(by: 1) }
        on(SIGTTOU) { [unowned self] in context.scaling.change(by: -1) }
        on(SIGTSTP) { [unowned self] in context.participation.becomeQuiet() }
        on(SIGWINCH) { [unowned self] in
            if !context.lifecycle.isStopping { context.participation.becomeDrained() }
        }
    }

    private func on(_ number: Int32, _ action: @escaping @Loop () -> Void) {
        watchers.append(SignalWatcher(number, action))
    }

    private var hasTerminal: Bool {
        let terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard terminal >= 0 else { return false }
        close(terminal)
        return true
    }

    private func reopenLogs() {
        context.options.reopenLogs()
        context.fleet.reopenLogs()
        context.log.notice("log files reopened")
    }
}
