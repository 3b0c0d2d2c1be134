import EventLoop
import FarmHarness
import RedisClient

/// A Redis server for one test with a ready connection.
@Loop final class ConnectedRedis {
    let connection: RedisConnection
    private let server: RedisServer

    init() async throws {
        server = try RedisServer(scratch: [])
        let address = RedisAddress(endpoint: .unix(path: server.socket))
        connection = RedisConnection(RedisSettings(address: address, clientName: "test"))
        connection.start()
        await connection.whenReady()
    }
}
