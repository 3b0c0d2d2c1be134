import EventLoop
import Logging
import Registry

@testable import RedisClient
@testable import StoreProtocol

/// A registry in a private Redis, with its writer.
@Loop final class RegistryRepairFixture {
    let redis: PrivateRedis
    let connection: RedisConnection
    let writer: RegistryWriter

    init() async throws {
        redis = try PrivateRedis()
        connection = RedisConnection(RedisSettings(address: redis.address, clientName: "test"))
        connection.start()
        await connection.whenReady()
        writer = RegistryWriter(app: "demo", connection: connection, log: Logger(label: "test"))
        try await writer.takeOver()
    }

    func reader() async throws -> RegistryReader {
        try await RegistryReader.open(app: "demo", connection: connection)
    }

    func check() async throws -> RegistryReader.CheckResult { try await reader().check() }

    /// Repairs until a check finds nothing that can be corrected, as the command does.
    func repair() async throws {
        let repair = RegistryRepair(try await reader())
        for _ in 0..<5 {
            let damage = try await check().damage
            if damage.isEmpty { return }
            if try await repair.repair(damage).isEmpty { return }
        }
    }
}
