import EventLoop
import LoopTesting
import RedisProtocol
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// Checks the Redis time, which all processes of a farm share, whatever the clocks of their hosts show.
@Suite(.timeLimit(.minutes(1))) struct RedisClockTests {
    @Test func `the clock is the host's until Redis replies`() {
        #expect(abs(RedisClock().seconds - WallClock.seconds) <= 1)
        var clock = RedisClock()
        clock.observed(0)
        clock.observed(RESPValue.array([]).time ?? 0)
        #expect(abs(clock.seconds - WallClock.seconds) <= 1, "it did not say")
    }

    @Test func `the clock continues from the last time of Redis`() {
        var clock = RedisClock()
        clock.observed(5_000_000, at: BootClock.milliseconds - 10_000)
        #expect((5010...5070).contains(clock.seconds))
        clock.observed(RESPValue.array([.bulk(Array("7000".utf8)), .bulk(Array("900000".utf8))]).time ?? 0)
        #expect((7000...7060).contains(clock.seconds))
    }

    @Test func `a new connection knows the time of Redis`() async throws {
        try await onLoop {
            let fake = FakeRedis()
            let text = "run_id:abc\r\nserver_time_usec:2000000000000000"
            fake.logIn = { $0.first == "INFO" ? .line("$\(text.utf8.count)\r\n\(text)") : nil }
            try await fake.start()
            let connection = RedisConnection(fake.settings)
            connection.start()
            await connection.whenReady()
            #expect((2_000_000_000...2_000_000_060).contains(connection.clock.seconds))
            connection.close()
            fake.stop()
        }
    }
}
