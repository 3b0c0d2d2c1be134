import EventLoop
import FarmConfiguration
import StoreProtocol

/// `reload`: reads the configuration again, checks all of it, and then applies it.
@Loop final class ConfigurationReload {
    private unowned let context: HostContext
    /// Whether a reload is running. Only one reload runs at a time.
    private var isUnderWay = false

    init(_ context: HostContext) { self.context = context }

    /// - Returns: a description of the changes.
    /// - Throws: the reason why the configuration is refused. After a refusal, the previous configuration still
    ///   applies.
    func run(_ isDry: Bool = false) async throws(OperationRefusal) -> String {
        if isDry {
            let next = try read()
            let waiting = try checkCredentials(of: next)
            return describe(context.configuration.changes(to: next), waiting, isDry: true)
        }
        guard await context.changes.until(.now + .seconds(60), { !isUnderWay }) else {
            throw OperationRefusal("another reload is still under way")
        }
        guard context.apps.isPrepared, !context.lifecycle.isStopping else {
            throw OperationRefusal("the coordinator is starting or stopping")
        }
        isUnderWay = true
        context.service.reloading()
        defer {
            isUnderWay = false
            context.service.reloaded()
            context.changes.signal()
        }
        let next = try read()
        let waiting = try checkCredentials(of: next)
        let differences = context.configuration.changes(to: next)
        if !differences.needRestart.isEmpty {
            context.log.warning(
                "some changes take effect at the next start",
                metadata: ["keys": "\(differences.needRestart.joined(separator: ", "))"])
        }
        await apply(next, differences)
        return describe(differences, waiting) + resumeAfterReload()
    }

    /// Starts workers again that failed to start, and ends a drain, because a reload does both.
    /// - Returns: a text that tells the operator whether the host takes work.
    private func resumeAfterReload() -> String {
        context.fleet.retryFailedWorkers()
        let wasDrained = context.lifecycle.isDrained
        if wasDrained { context.participation.resume() }
        context.log.notice("configuration reloaded", metadata: ["apps": "\(context.apps.all.count)"])
        if context.lifecycle.isQuiet { return "; still quiet: use resume \(context.host)" }
        return wasDrained ? "; takes work again" : ""
    }

    // MARK: Checking

    private func read() throws(OperationRefusal) -> Configuration {
        do {
            let next = try context.options.reload()
            context.status.configurationProblem = nil
            return next
        } catch { throw refuse("\(error)") }
    }

    /// Reads and checks the credential files that the apps name. The credentials are not used yet.
    ///
    /// - Returns: a text for each paused app whose credentials still cannot be loaded, with the reason.
    /// - Throws: if the credential files of an app that is not paused are faulty.
    private func checkCredentials(of next: Configuration) throws(OperationRefusal) -> [String] {
        var waiting: [String] = []
        for app in next.apps {
            do throws(LoadedCredentials.Problem) {
                _ = try LoadedCredentials.load(app)
                _ = try LoadedCredentials.trustedCA(of: app)
            } catch {
                let text = "\(app.name): \(error)"
                guard context.apps[app.name]?.credentials.pauseReason != nil else { throw refuse(text) }
                waiting.append(text)
            }
        }
        return waiting
    }

    private func refuse(_ reason: String) -> OperationRefusal {
        context.status.configurationProblem = reason
        context.log.error("configuration not changed", metadata: ["error": "\(reason)"])
        return OperationRefusal("configuration not changed: \(reason)")
    }

    // MARK: Following

    private func apply(_ next: Configuration, _ differences: ConfigurationChanges) async {
        let haveWorkersChanged = next.workers != context.configuration.workers
        context.adopt(next)
        context.alerts.apply(next.alerts)
        // If an operator has set the number of workers, the configured number does not apply.
        if haveWorkersChanged, context.desired.scale == nil {
            context.scaling.set(context.scaling.configured)
        }
        context.unknownApps.noteRemoval(of: differences.removed)
        let removals = differences.removed.map { name in Loop.task { await self.context.apps.remove(name) } }
        for removal in removals { await removal.value }
        guard !context.lifecycle.isStopping else { return }
        for app in next.apps {
            if differences.added.contains(app.name) {
                await context.apps.add(app)
            } else if let present = context.apps[app.name] {
                await present.change(to: app)
            }
        }
        if !differences.added.isEmpty || !differences.removed.isEmpty { context.listener.subscribe() }
        do throws(RedisError) { try await context.farmRedis.addApps(next.apps.map(\.name)) } catch {
            context.log.warning("cannot register the apps in Redis", error: error)
        }
        for name in differences.added { context.apps.introduceToWorkers(name) }
    }

    /// - Parameter waiting: the result of ``checkCredentials(of:)``.
    private func describe(
        _ changes: ConfigurationChanges, _ waiting: [String], isDry: Bool = false
    ) -> String {
        let workers = changes.workers.map { count in
            let text = WorkerScaling.desired(count).text
            // If an operator has set the number of workers, the configured number does not apply.
            return context.desired.scale.map { "\(text), when scale default ends \($0)" } ?? text
        }
        let differences = [
            ("added", changes.added), ("removed", changes.removed), ("changed", changes.changed),
            ("workers", workers.map { [$0] } ?? []),
            ("alerts", changes.hasNewAlerts ? ["as the configuration has them now"] : []),
            ("upgrade starts", changes.hasNewProgram ? ["the program of the configuration"] : []),
            ("at the next start", changes.needRestart),
        ].filter { !$0.1.isEmpty }.map { "\($0.0): \($0.1.joined(separator: ", "))" }
        let texts = differences.isEmpty ? ["the configuration is the same"] : differences
        let credentials = isDry ? "credentials would be reloaded" : "credentials are reloaded"
        return (texts + [credentials] + waiting.map { "still paused: \($0)" }).joined(separator: "; ")
    }
}
