import ControlChannel
import EventLoop
import FarmConfiguration
import FarmPolicy
import FarmStore
import Logging

/// A configuration that changed: it is read and checked as a whole before anything follows it.
extension Coordinator {
    /// - Returns: what has changed.
    /// - Throws: why it is not followed; then nothing has changed.
    func reload(_ isDry: Bool = false, _ operation: Operation? = nil) async throws(OperationRefusal) -> String
    {
        if isDry {
            let next = try read()
            return describe(configuration.changes(to: next), try credentials(of: next), isDry: true)
        }
        guard await changes.until(.now + .seconds(60), { [unowned self] in !isReloading }) else {
            throw OperationRefusal("another reload is still under way")
        }
        guard let around = dependencies, !isStopping else {
            throw OperationRefusal("the coordinator is starting or ending")
        }
        isReloading = true
        service.reloading()
        defer {
            isReloading = false
            service.reloaded()
            changes.ring()
        }
        let next = try read()
        let broken = try credentials(of: next)
        let differences = configuration.changes(to: next)
        if !differences.needRestart.isEmpty {
            log.warning(
                "some changes take effect at the next start",
                metadata: ["keys": "\(differences.needRestart.joined(separator: ", "))"])
        }
        await follow(next, differences, around)
        // What kept them from starting may be mended.
        for slot in slots where slot.state == .failed { slot.retry() }
        let wasDrained = isDrained
        if isDrained { comeBack() }
        log.notice("configuration reloaded", metadata: ["apps": "\(apps.count)"])
        let state =
            isQuiet
            ? "; still quiet: resume \(configuration.host) ends that" : wasDrained ? "; takes part again" : ""
        return describe(differences, broken) + state
    }

    private func read() throws(OperationRefusal) -> FarmConfiguration {
        do {
            let next = try options.reload()
            refusal = nil
            return next
        } catch { throw refused("\(error)") }
    }

    /// Reads the files that the apps name, and follows none of them yet.
    ///
    /// - Returns: of apps that wait for their credentials already, why they go on waiting.
    /// - Throws: what is wrong with another app's.
    private func credentials(of next: FarmConfiguration) throws(OperationRefusal) -> [String] {
        var waiting: [String] = []
        for app in next.apps {
            do throws(LoadedCredentials.Problem) {
                _ = try LoadedCredentials.load(app)
                _ = try LoadedCredentials.authority(of: app)
            } catch {
                let text = "\(app.name): \(error)"
                guard apps[app.name]?.credentials.pauseReason != nil else { throw refused(text) }
                waiting.append(text)
            }
        }
        return waiting
    }

    private func refused(_ reason: String) -> OperationRefusal {
        refusal = reason
        log.error("the configuration is not changed", metadata: ["error": "\(reason)"])
        return OperationRefusal("the configuration is not changed: \(reason)")
    }

    private func follow(
        _ next: FarmConfiguration, _ differences: ConfigurationChanges, _ around: HostedApp.Dependencies
    ) async {
        configuration.apps = next.apps
        configuration.alerts = next.alerts
        configuration.program = next.program
        alerts?.follow(next.alerts)
        if next.workers != configuration.workers {
            configuration.workers = next.workers
            // What an operator has said last counts.
            if followedScale == nil { setStaff(configuredStaff, reason: .operator) }
        }
        removedApps.formUnion(differences.removed)
        let removals = differences.removed.map { name in Loop.task { await self.remove(name) } }
        for removal in removals { await removal.value }
        guard !isStopping else { return }
        for app in next.apps {
            if differences.added.contains(app.name) {
                await add(app, dependencies ?? around)
            } else if let present = apps[app.name] {
                await present.change(to: app)
            }
        }
        if !differences.added.isEmpty || !differences.removed.isEmpty { listen() }
        do throws(RedisError) { try await registry.addApps(next.apps.map(\.name)) } catch {
            log.warning("apps not registered", metadata: ["error": "\(error)"])
        }
        for slot in slots where slot.isReady {
            for name in differences.added { apps[name].map { introduce($0, to: slot) } }
        }
    }

    /// - Parameter broken: see ``credentials(of:)``.
    private func describe(
        _ changes: ConfigurationChanges, _ broken: [String], isDry: Bool = false
    ) -> String {
        let workers = changes.workers.map { count in
            let wish = Self.staff(count).text
            // What an operator has said last counts.
            return followedScale.map { "\(wish), when scale default ends \($0)" } ?? wish
        }
        let parts = [
            ("added", changes.added), ("removed", changes.removed), ("changed", changes.changed),
            ("workers", workers.map { [$0] } ?? []),
            ("alerts", changes.hasNewAlerts ? ["as the configuration has them now"] : []),
            ("upgrade starts", changes.hasNewProgram ? ["the program of the configuration"] : []),
            ("at the next start", changes.needRestart),
        ].filter { !$0.1.isEmpty }.map { "\($0.0): \($0.1.joined(separator: ", "))" }
        let texts = parts.isEmpty ? ["the configuration is the same"] : parts
        let credentials = isDry ? "credentials would be read again" : "credentials are read again"
        return (texts + [credentials] + broken.map { "still paused: \($0)" }).joined(separator: "; ")
    }

    /// What the configuration says, without operators.
    var configuredStaff: DesiredWorkers { Self.staff(configuration.workers) }

    private static func staff(_ count: WorkerCount) -> DesiredWorkers {
        switch count {
        case .auto: .auto
        case .fixed(let number): .fixed(number)
        }
    }
}
