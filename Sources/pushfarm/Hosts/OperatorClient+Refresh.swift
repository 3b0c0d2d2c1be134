import ControlChannel
import EventLoop
import PushModel
import StoreProtocol

extension OperatorClient {
    /// Writes an operator's change in Redis into the audit log, without waiting for the coordinators.
    /// - Parameter words: the command line.
    static func record(_ words: [String], _ client: FarmClient) async throws(CommandFailure) {
        let command = OperatorCommand(.refresh, words, host: nil)
        _ = try await client.ask { farmRedis throws(RedisError) in try await farmRedis.put(command) }
    }

    /// Tells every coordinator to apply a change that was just stored in Redis. The change is valid even if
    /// coordinators do not reply: a coordinator that misses the message reads the change within two seconds.
    /// - Parameter words: the change, for the audit log.
    static func refreshHosts(
        _ words: [String], _ client: FarmClient, _ console: Console
    ) async throws(CommandFailure) -> Outcome? {
        let live = try await liveHosts(client)
        guard !live.isEmpty else { return nil }
        var options: OperatorOptions
        do { options = try OperatorOptions.parse([]) } catch { throw .failed("\(error)") }
        options.timeout = DurationOption(seconds: 10)
        let operators = OperatorClient(
            configuration: client.configuration, options: options, console: console)
        return try await operators.ask(client, .refresh, words, nil, live)
    }
}

extension FarmClient {
    /// Writes an operator's change in Redis and its result into the audit log.
    /// - Parameter words: the command line.
    func note(_ words: [String], _ result: String) async throws(CommandFailure) {
        let now = try await clock().clampedMilliseconds
        try await ask { farmRedis throws(RedisError) in
            try await farmRedis.note(
                by: OperatorClient.issuer, verb: words.first ?? "", arguments: Array(words.dropFirst()),
                text: result, at: now)
        }
    }
}
