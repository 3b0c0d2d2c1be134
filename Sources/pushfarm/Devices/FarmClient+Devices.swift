import EventLoop
import RedisClient
import Registry
import StoreProtocol

/// Reads the stored devices of an app.
extension FarmClient {
    /// Opens the registry of an app, which may be empty.
    func registry(of app: String) async throws(CommandFailure) -> RegistryReader {
        try await mustHave(app: app)
        let (connection, _) = try await registryConnection(of: app)
        return try await read { () throws(StoreError) in
            try await RegistryReader.open(app: app, connection: connection)
        }
    }

    /// Runs `body`, which reads a registry, and replaces an error by the failure that the command shows.
    func read<Value: Sendable>(
        _ body: @Loop () async throws(StoreError) -> Value
    ) async throws(CommandFailure) -> Value {
        do { return try await body() } catch { throw failure(error) }
    }

    /// The day of Redis's clock, as a number of days since 1970-01-01 UTC.
    func today() async throws(CommandFailure) -> Int {
        DeviceRecord.day(of: try await clock().components.seconds)
    }
}
