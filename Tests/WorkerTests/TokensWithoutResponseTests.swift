import EventLoop
import LoopTesting
import PushModel
import Testing

@testable import Worker

/// Tokens to which the gateway never responds, beside other tokens.
@Suite(.timeLimit(.minutes(5))) struct TokensWithoutResponseTests {
    /// The pushes without a response occupy their streams for longer than the test waits.
    @Test(arguments: [1, 4]) func `pushes pass others without a response in any shard`(
        connections: Int
    )
        async throws
    {
        try await SenderFixture.run {
            $0.faults = ["silence 0.4%", "latency 10ms"]
        } _: { farm in
            for _ in 0..<4 { try await farm.submit(Array(repeating: 250, count: 20), lane: .bulk) }
            try farm.apply(timeout: .seconds(120), most: connections, kept: connections)
            #expect(
                await until {
                    farm.counters.accepted + farm.sender.pool.openStreams == 20_000
                        && farm.sender.pool.openStreams < 300
                }, "accepted: \(farm.counters.accepted)")
            #expect(farm.repeated == 0 && farm.sender.pool.openStreams > 20)
        }
    }
}
