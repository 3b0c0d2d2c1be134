import EventLoop
import Glibc
import Logging
import Supervision

/// The commands `dump`, `purge` and `log-level`.
@Loop struct DiagnosticCommands {
    unowned let context: HostContext

    /// Kills child processes of this farm whose coordinator has exited.
    func purge(_ isDry: Bool) throws(OperationRefusal) -> String {
        let lock = context.configuration.stateDirectory + "/coordinator.lock"
        let orphans = Orphans.of(lock: lock, except: getpid())
        guard !orphans.isEmpty else { return "every process of this farm has its coordinator" }
        let list = orphans.map { "\($0)" }.joined(separator: ", ")
        if isDry { return "would end \(list)" }
        for pid in orphans { Orphans.end(pid) }
        return "ended \(list)"
    }

    /// Logs the state of one worker, or of the host and all its workers.
    func dump(_ slot: WorkerSlot?, _ isDry: Bool) throws(OperationRefusal) -> String {
        if let slot, slot.child.pid == 0 { throw OperationRefusal("worker \(slot.index) has no process now") }
        if isDry { return "would write the state to the log" }
        for slot in slot.map({ [$0] }) ?? context.fleet.slots where slot.child.pid > 0 {
            slot.child.send(.dump)
        }
        if slot == nil { logState() }
        return "see the log"
    }

    private func logState() {
        context.log.notice(
            "dump", metadata: ["host": "\(String(decoding: context.status.line, as: UTF8.self))"])
        for app in context.apps.sorted {
            context.log.notice(
                "dump",
                metadata: [
                    "app": "\(app.name)", "shards": "\(app.leases.machine.served.count)",
                    "intake": "\(app.leases.machine.intake != nil)",
                    "leaving": "\(app.leases.machine.leaving.count)",
                    "paused": "\(app.credentials.pauseReason ?? "")",
                ])
        }
    }

    func setLogLevel(_ text: String, _ isDry: Bool) throws(OperationRefusal) -> String {
        guard let level = Logger.Level(rawValue: text) else {
            let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
            throw OperationRefusal("unknown level \"\(text)\"; use \(levels)")
        }
        if isDry { return "would log at level \(text) and above" }
        context.options.setLogLevel(level)
        context.fleet.setLogLevel(text)
        return "logs at level \(text) and above"
    }
}
