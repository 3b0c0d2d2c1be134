import EventLoop
import FarmConfiguration
import PushModel

extension Configuration {
    /// The app that a command is for: the one that was named, or the only one there is.
    func chosenApp(_ name: String?) throws(CommandFailure) -> String {
        if let name { return name }
        return try Self.onlyApp(of: apps.map(\.name))
    }

    fileprivate static func onlyApp(of known: [String]) throws(CommandFailure) -> String {
        guard let only = known.first else { throw .usage("no app is configured: name one with --app") }
        guard known.count == 1 else {
            throw .usage("name one of the apps with --app: " + known.joined(separator: ", "))
        }
        return only
    }

    /// Redis's address is not configured, but for a `pushfarm up` that may have ended.
    var isOfNoFile: Bool {
        guard case .file(let file, _) = redisPlace else { return redisPlace == nil }
        return file.hasSuffix("/" + Self.localFarmFile)
    }

    /// Runs the loop until `body` has ended, with a connection to the farm's Redis.
    func withClient<Value: Sendable>(
        _ body: @escaping @Loop (FarmClient) async throws -> Value
    ) throws -> Value {
        try Loop.run { @Loop in
            let client = try await FarmClient.connect(self)
            defer { client.close() }
            return try await body(client)
        }
    }
}

extension CommonOptions {
    /// Runs the loop until `body` has ended, with a connection to the Redis of the farm that the options name.
    func withClient<Value: Sendable>(
        _ body: @escaping @Loop (FarmClient) async throws -> Value
    ) throws -> Value {
        try load().withClient(body)
    }
}

extension FarmClient {
    /// The app that a command is for: the one that was named, or the only one of the configuration, else of the farm.
    func chosenApp(_ name: String?) async throws(CommandFailure) -> String {
        if name == nil, !configuration.apps.isEmpty { return try configuration.chosenApp(nil) }
        let known = try await apps()
        guard let name else { return try Configuration.onlyApp(of: known) }
        // A farm that has never run knows no app: it may come later.
        guard known.isEmpty || known.contains(name) else { throw .noApp(name, among: known) }
        return name
    }
}

extension AppConfiguration {
    /// What a job may ask for, as the intake checks it.
    var jobLimits: JobLimits {
        JobLimits(
            tokens: maxTokens, payloadBytes: binary?.longestPayload ?? .max, hasOneTopic: binary != nil,
            topics: topics.listed)
    }
}
