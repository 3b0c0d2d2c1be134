import EventLoop
import Logging
import RedisClient

/// The connections of an intake process to the Redis servers that have registries of devices.
@Loop final class RegistryConnections {
    private let farm: RedisConnection
    private let trustedCA: [UInt8]
    private let name: String
    private let log: Logger
    /// The connections by URL.
    private var connections: [String: RedisConnection] = [:]

    /// - Parameters:
    ///   - farm: the connection to the farm's Redis.
    ///   - trustedCA: the CA certificates in PEM that are trusted for rediss://; empty: the system's CA certificates.
    ///   - name: the name of the process.
    init(farm: RedisConnection, trustedCA: [UInt8], name: String, log: Logger) {
        (self.farm, self.trustedCA, self.name, self.log) = (farm, trustedCA, name, log)
    }

    /// The connection to the Redis with this URL; with an empty URL, the connection to the farm's Redis.
    ///
    /// A connection stays open until ``close()``, because the configuration of a running process seldom changes.
    func connection(_ url: String) -> RedisConnection {
        if url.isEmpty { return farm }
        if let known = connections[url] { return known }
        let settings: RedisSettings
        do {
            settings = try RedisSettings(
                url: url, trustedCA: trustedCA, clientName: "pushfarm-registry-\(name)")
        } catch {
            log.error("cannot use the address of the registry: using the farm's Redis", error: error)
            return farm
        }
        let connection = RedisConnection(settings)
        connections[url] = connection
        connection.logOutages(to: log)
        connection.start()
        return connection
    }

    func close() {
        for connection in connections.values { connection.close() }
    }
}
