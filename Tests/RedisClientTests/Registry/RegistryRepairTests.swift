import EventLoop
import LoopTesting
import RedisProtocol
import Registry
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// Repairs damaged registries in a real Redis.
@Suite(.timeLimit(.minutes(5))) struct RegistryRepairTests {
    private static func device(_ number: Int) -> DeviceInput {
        .set(
            DeviceFields(
                id: "d\(number)",
                addresses: [DeviceAddress(bytes: [7, UInt8(number / 250), UInt8(number % 250)])],
                user: "u\(number % 40)", tags: ["t\(number % 3)"], zone: "Asia/Tokyo"))
    }

    /// The key of partition 3 with this suffix.
    private static func key(_ suffix: String) -> String { "{pushfarm:demo:r03}:" + suffix }

    /// Damage of one partition, as commands.
    private static let damages: [[[String]]] = [
        [["DEL", "bits:1:0"], ["DEL", "bits:2:0"]],
        [["SET", "bits:1:0", "x"], ["DEL", "bits:2:0"], ["HSET", "bits:2:0", "a", "b"]],
        [["DEL", "id:0"]], [["DEL", "token:0"], ["DEL", "user:0"]],
        [["DEL", "id:0"], ["SET", "id:0", "x"]], [["HSET", "token:0", "short", "x"]],
        [["DEL", "free"]], [["ZADD", "free", "5", "1", "5", "y", "5", "999999"]],
        [["DEL", "free"], ["SET", "free", "x"]],
        [["HSET", "meta", "devices", "1", "id_entries", "0", "user_entries", "99"]],
        [["HDEL", "meta", "next", "devices", "id_entries", "token_entries", "user_entries"]],
    ]

    @Test(arguments: damages.indices) func `damage is repaired, and the records stay`(number: Int)
        async throws
    {
        try await onLoop {
            let fixture = try await RegistryRepairFixture()
            _ = try await fixture.writer.apply((0..<600).map { Self.device($0) }) {}
            _ = try await fixture.writer.apply((0..<50).map { .remove(id: "d\($0)") }) {}
            #expect(try await fixture.check().faults == [])
            let devices = try await fixture.check().devices
            for command in Self.damages[number] {
                var sent = RESPCommand(command[0], key: Array(Self.key(command[1]).utf8))
                for word in command.dropFirst(2) { sent.append(word) }
                try fixture.redis.run(sent)
            }
            #expect(try await fixture.check().faults != [])
            try await fixture.repair()
            let result = try await fixture.check()
            #expect(result.faults == [] && result.devices == devices)
            // The writer notices that the partitions have other versions, and continues.
            #expect(try await fixture.writer.apply([Self.device(1)]) {} == [.applied])
            #expect(try await fixture.check().faults == [])
            fixture.connection.close()
        }
    }

    @Test func `a repair beside registrations makes everything agree`() async throws {
        try await onLoop {
            let fixture = try await RegistryRepairFixture()
            _ = try await fixture.writer.apply((0..<600).map { Self.device($0) }) {}
            for suffix in ["bits:1:0", "bits:2:0", "id:0", "token:0", "user:0", "free"] {
                for partition in 0..<16 {
                    let number = partition < 10 ? "0\(partition)" : "\(partition)"
                    // Without an entry in the index by id, a registration would create a second record.
                    if suffix != "id:0" || partition == 0 {
                        try fixture.redis.run("DEL", "{pushfarm:demo:r\(number)}:\(suffix)")
                    }
                }
            }
            let writing = Loop.task {
                for round in 0..<30 {
                    let inputs = (0..<20).map { number in
                        RegistryKeys(app: "demo").partition(ofDevice: "d\(round * 20 + number)") == 0
                            ? Self.device(600 + number) : Self.device(round * 20 + number)
                    }
                    _ = try await fixture.writer.apply(inputs) {}
                }
            }
            for _ in 0..<3 { try await fixture.repair() }
            try await writing.value
            try await fixture.repair()
            #expect(try await fixture.check().faults == [])
            fixture.connection.close()
        }
    }
}
