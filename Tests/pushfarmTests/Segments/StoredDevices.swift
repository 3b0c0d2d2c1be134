import FarmHarness
import Foundation
import RedisProtocol
import Registry
import RegistryTesting
import Testing

/// A private Redis with stored devices of the app `demo`. Tests run commands that use this Redis.
struct StoredDevices {
    private let server: RedisServer
    let redis: BlockingRedisClient

    init(_ records: [DeviceRecord]) throws {
        server = try RedisServer(scratch: [])
        redis = try BlockingRedisClient(server.socket, waitsForServer: true)
        for app in ["demo", "shop"] { try redis.run("SADD", "{pushfarm}:apps", app) }
        for command in RegistryImage(app: "demo", records, gap: 10).commands { try redis.run(command) }
    }

    func run(_ arguments: String...) async throws -> ProgramRun.Result { try await run(arguments) }

    func run(_ arguments: [String]) async throws -> ProgramRun.Result {
        try await ProgramRun.run(arguments + ["--redis", "unix://" + server.socket])
    }

    /// Runs a command that must succeed with `--json`, and returns its document.
    func document(_ arguments: String...) async throws -> [String: Any] {
        let result = try await ProgramRun.run(arguments + ["--json", "--redis", "unix://" + server.socket])
        #expect(result.status == 0, "\(result)")
        return try #require(
            try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any], "\(result)")
    }

    /// Today as a number of days since 1970-01-01 UTC.
    static var today: Int { DeviceRecord.day(of: Int64(Date().timeIntervalSince1970)) }
}
