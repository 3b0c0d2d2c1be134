/// What a reload changes.
package struct ConfigurationChanges: Sendable, Equatable {
    /// Names of apps.
    package var added: [String] = []
    package var removed: [String] = []
    package var changed: [String] = []
    /// How many there are to be now, if it was another number.
    package var workers: WorkerCount?
    /// Alerts are told by other marks, or in another way.
    package var hasNewAlerts = false
    /// An upgrade starts another program from now on.
    package var hasNewProgram = false
    /// Keys whose change takes effect at the next start only.
    package var needRestart: [String] = []
}

extension FarmConfiguration {
    /// What differs between this configuration and a newer one. A credential file whose bytes changed is not seen
    /// here: the same path is the same value.
    package func changes(to newer: FarmConfiguration) -> ConfigurationChanges {
        var changes = ConfigurationChanges()
        for app in newer.apps {
            guard let old = self.app(named: app.name) else {
                changes.added.append(app.name)
                continue
            }
            if old != app { changes.changed.append(app.name) }
        }
        changes.removed = apps.map(\.name).filter { newer.app(named: $0) == nil }
        let fixed: [(String, Bool)] = [
            ("host", host == newer.host), ("redis", redis == newer.redis),
            ("state_dir", stateDirectory == newer.stateDirectory),
            ("shards", shards == newer.shards), ("accounts_kept", accountsKept == newer.accountsKept),
            ("account_hours", accountLife == newer.accountLife), ("log", log == newer.log),
            ("metrics", metrics == newer.metrics),
        ]
        if workers != newer.workers { changes.workers = newer.workers }
        changes.hasNewProgram = program != newer.program
        changes.hasNewAlerts = alerts != newer.alerts
        changes.needRestart = fixed.filter { !$0.1 }.map(\.0)
        return changes
    }
}
