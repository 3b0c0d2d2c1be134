/// A coordinator's configuration file.
package struct CoordinatorConfiguration {
    /// The value of `redis:`.
    package var redis: String
    /// The folder of the host's files. The host's state folder is `var` in this folder.
    package var folder: String
    package var host: String?
    package var workers: String
    package var apps: [App]
    /// More top-level lines of the file. FOLDER in a line stands for `folder`.
    package var lines: [String]

    package init(
        redis: String, folder: String, host: String? = "here", workers: String, apps: [App],
        lines: [String] = []
    ) {
        (self.redis, self.folder, self.host, self.workers) = (redis, folder, host, workers)
        (self.apps, self.lines) = (apps, lines)
    }

    package var text: String {
        let settings =
            lines.map { $0.replacing("FOLDER", with: folder) }
            + ["redis: \(redis)", "state_dir: \(folder)/var"] + (host.map { ["host: \($0)"] } ?? [])
            + ["workers: \(workers)", "apps:"] + apps.map(\.text)
        return settings.map { $0 + "\n" }.joined()
    }
}
