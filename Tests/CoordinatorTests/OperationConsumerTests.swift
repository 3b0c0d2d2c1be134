import ControlChannel
import EventLoop
import Logging
import LoopTesting
import PushModel
import RedisClient
import Testing

@testable import Coordinator

/// The consumer of one host with its own Redis server. The test starts each read of the consumer.
@Suite(.timeLimit(.minutes(2))) struct OperationConsumerTests {
    private static let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private static func command(_ id: String) -> OperatorCommand {
        OperatorCommand(id: id, issuer: "test", host: nil, verb: "scale", arguments: ["2"])
    }

    @Loop private final class Again {
        weak var consumer: OperationConsumer?
    }

    @Test func `a command that arrives during a read is handled by the same read`() async throws {
        try await onLoop {
            let server = try await ConnectedRedis()
            let redis = server.connection
            let farmRedis = FarmRedis(connection: redis)
            for id in ["one", "two"] { #expect(try await farmRedis.put(Self.command(id))) }

            var carriedOut: [String] = []
            let last = Mailbox<Void>()
            let again = Again()
            let consumer = OperationConsumer(farmRedis, host: "h", log: Self.log) { command, _ in
                carriedOut.append(command.id)
                // The consumer has read both commands and will claim the second command next.
                if command.id == "one" {
                    Loop.task { _ = try? await farmRedis.put(Self.command("three")) }
                    await again.consumer?.readNew()
                }
                if command.id == "three" { last.put(()) }
                return "done"
            }
            again.consumer = consumer
            await consumer.readNew()
            try await last.wait(until: 1)
            #expect(carriedOut == ["one", "two", "three"])
            redis.close()
        }
    }

    @Test func `a command above the limit of running commands is refused and may be retried`() async throws {
        try await onLoop {
            let redis = RedisConnection(
                RedisSettings(address: RedisAddress(endpoint: .unix(path: "/none")), clientName: "test"))
            var waiting: [CheckedContinuation<Void, Never>] = []
            let consumer = OperationConsumer(FarmRedis(connection: redis), host: "h", log: Self.log) {
                _, _ in
                await withCheckedContinuation { waiting.append($0) }
                return "carried out"
            }
            let replies = Mailbox<OperatorReply>()
            for number in 1...64 { consumer.begin(Self.command("\(number)")) { replies.put($0) } }
            consumer.begin(Self.command("one more")) { replies.put($0) }
            let refused = try await replies.next()
            #expect(refused.state == .refused && refused.text == "64 commands are running: try again later")
            #expect(await until { waiting.count == 64 })
            for continuation in waiting { continuation.resume() }
            try await replies.wait(until: 65)
            #expect(replies.all.dropFirst().allSatisfy { $0.text == "carried out" })
            #expect(consumer.underWay.isEmpty)
        }
    }
}
