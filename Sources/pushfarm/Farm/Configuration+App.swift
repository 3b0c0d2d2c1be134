import EventLoop
import FarmConfiguration
import PushModel

extension Configuration {
    /// The app of a command: the named app, or the only configured app.
    func chosenApp(_ name: String?) throws(CommandFailure) -> String {
        if let name { return name }
        return try Self.onlyApp(of: apps.map(\.name))
    }

    fileprivate static func onlyApp(of known: [String]) throws(CommandFailure) -> String {
        guard let only = known.first else { throw .usage("no app is configured: name an app with --app") }
        guard known.count == 1 else {
            throw .usage(
                "several apps are configured; name one of them with --app: " + known.joined(separator: ", "))
        }
        return only
    }

    /// Whether the user has not configured a Redis: the address is the default, or is from the file that `pushfarm up`
    /// writes and that may be left from a farm that has ended.
    var isOfNoFile: Bool {
        guard case .file(let file, _) = redisSource else { return redisSource == nil }
        return file.hasSuffix("/" + Self.localFarmFile)
    }
}

extension FarmClient {
    /// The app of a command: the named app, or the only app of the configuration, or else the only app of the farm.
    func chosenApp(_ name: String?) async throws(CommandFailure) -> String {
        if name == nil, !configuration.apps.isEmpty { return try configuration.chosenApp(nil) }
        let known = try await apps()
        guard let name else { return try Configuration.onlyApp(of: known) }
        // If the farm has never run, no apps are known. Accept any name then, because the app may be added later.
        guard known.isEmpty || known.contains(name) else { throw .noApp(name, among: known) }
        return name
    }
}

extension AppConfiguration {
    /// The limits of a job, as the intake checks them.
    var jobLimits: JobLimits {
        JobLimits(
            tokens: maxTokens, payloadBytes: binary?.longestPayload ?? .max, hasOneTopic: binary != nil,
            topics: topics.listed)
    }
}
