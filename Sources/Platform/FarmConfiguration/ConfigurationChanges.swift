/// The differences that a reload of the configuration found.
package struct ConfigurationChanges: Sendable, Equatable {
    /// Names of the added apps.
    package var added: [String] = []
    package var removed: [String] = []
    package var changed: [String] = []
    /// The new number of workers, if it has changed.
    package var workers: WorkerCount?
    /// True if limits or receivers of alerts have changed.
    package var hasNewAlerts = false
    /// True if the program that an upgrade starts has changed.
    package var hasNewProgram = false
    /// The changed keys that take effect only after a restart.
    package var needRestart: [String] = []
}

extension Configuration {
    /// Compares this configuration with a newer configuration. The function compares the paths of credential files and not their
    /// contents: a file whose content has changed counts as unchanged.
    package func changes(to newer: Configuration) -> ConfigurationChanges {
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
            ("shards", shards == newer.shards), ("job_records_kept", jobRecordsKept == newer.jobRecordsKept),
            ("job_record_hours", jobRecordLife == newer.jobRecordLife), ("log", log == newer.log),
            ("metrics", metrics == newer.metrics),
        ]
        if workers != newer.workers { changes.workers = newer.workers }
        changes.hasNewProgram = program != newer.program
        changes.hasNewAlerts = alerts != newer.alerts
        changes.needRestart = fixed.filter { !$0.1 }.map(\.0)
        return changes
    }
}
