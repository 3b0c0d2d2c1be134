import EventLoop
import FarmHarness
import Logging
import LoopTesting
import RandomTesting
import RedisProtocol
import Registry
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// Checks the writer of a registry with a real Redis.
@Suite(.timeLimit(.minutes(5))) struct RegistryWriterTests {
    @Loop private func connect(_ redis: PrivateRedis) async -> RedisConnection {
        let connection = RedisConnection(RedisSettings(address: redis.address, clientName: "test"))
        connection.start()
        await connection.whenReady()
        return connection
    }

    @Loop private func writer(_ connection: RedisConnection) -> RegistryWriter {
        RegistryWriter(app: "demo", connection: connection, log: Logger(label: "test"))
    }

    private static func device(_ number: Int, token: Int? = nil, user: String? = nil) -> DeviceInput {
        .set(
            DeviceFields(
                id: "d\(number)", addresses: [DeviceAddress(bytes: bytes(token ?? number))], user: user,
                tags: number.isMultiple(of: 2) ? ["even"] : ["odd"], zone: "Asia/Tokyo"))
    }

    private static func bytes(_ token: Int) -> [UInt8] {
        [UInt8](repeating: 9, count: 30) + [UInt8(token >> 8), UInt8(truncatingIfNeeded: token)]
    }

    /// Finds a device in the index of ids, and reads its record.
    private func record(_ id: String, _ redis: PrivateRedis) throws -> DeviceRecord? {
        let keys = RegistryKeys(app: "demo")
        let partition = keys.partition(ofDevice: id)
        let prefix = String(decoding: keys.prefix(ofPartition: partition), as: UTF8.self)
        let fields = try redis.run("HGETALL", prefix + "names").fields
        let meta = try redis.run("HGETALL", prefix + "meta").fields
        let field = RegistryHash(id: id).field
        let bucket = field.bucket(of: meta["id_buckets"].flatMap { Int($0) } ?? 1)
        var command = RESPCommand("HGET", prefix + "id:\(bucket)")
        command.append(field.bytes)
        guard
            let entry = try redis.run(command).bytes.flatMap({ IndexEntry(bytes: $0, of: .id, in: partition) }
            )
        else { return nil }
        let names = AttributeNames(fields: fields.map { ($0.key, $0.value) })
        return try entry.places.compactMap { place in
            let key = prefix + RegistryKey.records(of: place.ordinal).suffix
            let bytes = try redis.run("HGET", key, RegistryKey.recordField(of: place.ordinal)).bytes
            return try bytes.map { try DeviceRecord(bytes: $0, names: names) }
        }.first { $0.id == id }
    }

    @Test func `a take of 500 devices is stored, changed and removed`() async throws {
        try await onLoop {
            let redis = try PrivateRedis()
            let connection = await connect(redis)
            let writer = writer(connection)
            try await writer.takeOver()
            let inputs = (0..<500).map { Self.device($0, user: "u\($0 % 50)") }
            #expect(try await writer.apply(inputs) {} == inputs.map { _ in .applied })
            #expect(writer.devices == 500)
            let record = try #require(try record("d7", redis))
            #expect(record.user == "u7" && record.tags == ["odd"] && record.zone == "Asia/Tokyo")
            #expect(record.addresses.map(\.address.bytes) == [Self.bytes(7)])

            let changes: [DeviceInput] = [
                .change(id: "d7", addTags: ["x"], removeTags: ["odd"]), .remove(id: "d8"),
                Self.device(9, token: 10),
                .forget(user: "u11"), .change(id: "none", addTags: ["x"], removeTags: []),
            ]
            #expect(
                try await writer.apply(changes) {}
                    == [.applied, .applied, .applied, .applied, .refused(.unknownDevice(id: "none"))])
            #expect(writer.devices == 489)
            #expect(try self.record("d7", redis)?.tags == ["x"])
            #expect(try self.record("d8", redis) == nil && self.record("d61", redis) == nil)
            #expect(try self.record("d9", redis)?.addresses.map(\.address.bytes) == [Self.bytes(10)])
            #expect(try self.record("d10", redis)?.addresses == [])
            connection.close()
        }
    }

    @Test func `inputs that are applied again change nothing but versions`() async throws {
        try await onLoop {
            let redis = try PrivateRedis()
            let connection = await connect(redis)
            let inputs = (0..<40).map { Self.device($0, user: "u") }
            let first = writer(connection)
            try await first.takeOver()
            _ = try await first.apply(inputs) {}
            let before = try RedisDump(redis)
            let second = writer(connection)
            try await second.takeOver()
            #expect(try await second.apply(inputs) {} == inputs.map { _ in .applied })
            let changed = try RedisDump(redis).changes(since: before)
            #expect(changed.filter { !$0.contains("  version = ") && !$0.contains("  did = ") } == [])
            connection.close()
        }
    }

    @Test func `a writer that lost the intake changes nothing after another has taken over`() async throws {
        try await onLoop {
            let redis = try PrivateRedis()
            let connection = await connect(redis)
            let late = writer(connection)
            try await late.takeOver()
            _ = try await late.apply([Self.device(1)]) {}
            let owner = writer(connection)
            try await owner.takeOver()
            let before = try RedisDump(redis)
            await #expect(throws: StoreError.fenced(lease: "intake")) {
                try await late.apply([Self.device(2), Self.device(3, token: 1)]) { () throws(StoreError) in
                    throw .fenced(lease: "intake")
                }
            }
            #expect(try RedisDump(redis).changes(since: before) == [])
            #expect(try await owner.apply([Self.device(3, token: 1)]) {} == [.applied])
            #expect(try self.record("d1", redis)?.addresses == [])
            connection.close()
        }
    }

    @Test func `an owner whose registry was changed reads it again and applies its inputs`() async throws {
        try await onLoop {
            let redis = try PrivateRedis()
            let connection = await connect(redis)
            let (one, other) = (writer(connection), writer(connection))
            try await one.takeOver()
            try await other.takeOver()
            _ = try await other.apply([Self.device(1)]) {}
            var checks = 0
            #expect(try await one.apply([Self.device(2, token: 1)]) { checks += 1 } == [.applied])
            #expect(checks == 1)
            #expect(try self.record("d1", redis)?.addresses == [])
            #expect(one.devices == 2)
            connection.close()
        }
    }

    @Test func `a plan is not carried out if another writer took over after the plan's reads`() async throws {
        try await onLoop {
            let redis = try PrivateRedis()
            let connection = await connect(redis)
            try await writer(connection).takeOver()
            let calls = RegistryCalls(connection, log: Logger(label: "test"))
            let partitions = try await RegistryPartitions.open(
                app: AppRedis(app: "demo", connection: connection), format: RegistryWriter.format, connection,
                calls)
            var plan = RegistryPlan(
                [Self.device(1)], keys: partitions.keys, partitions: try await partitions.read(), now: 0,
                reusableBefore: .max)
            while case let reads = try plan.nextReads(), !reads.isEmpty {
                try plan.receive(try await calls.replies(to: reads, partitions.keys))
            }
            let owner = writer(connection)
            try await owner.takeOver()
            #expect(try await partitions.carryOut(plan) == nil)
            #expect(try self.record("d1", redis) == nil)
            #expect(try await owner.apply([Self.device(1)]) {} == [.applied])
            #expect(try self.record("d1", redis)?.addresses.count == 1)
            connection.close()
        }
    }

    @Test func `registrations wait for memory, and removals do not`() async throws {
        try await onLoop {
            let redis = try PrivateRedis()
            let connection = await connect(redis)
            let writer = writer(connection)
            let waits = Mailbox<Bool>()
            writer.onWait = { waits.put($0) }
            try await writer.takeOver()
            _ = try await writer.apply([Self.device(1)]) {}
            try redis.run("CONFIG", "SET", "maxmemory", "1")
            #expect(try await writer.apply([.remove(id: "d1")]) {} == [.applied])
            #expect(waits.all == [])
            let waiting = Loop.task { try await writer.apply([Self.device(2)]) {} }
            #expect(try await waits.next())
            try redis.run("CONFIG", "SET", "maxmemory", "0")
            #expect(try await waiting.value == [.applied])
            connection.close()
        }
    }

    @Test func `a registry of another format is not written`() async throws {
        try await onLoop {
            let redis = try PrivateRedis()
            try redis.run("HSET", "{pushfarm:demo}:registry", "format", "9", "partitions", "16")
            let connection = await connect(redis)
            let before = try RedisDump(redis)
            await #expect(
                throws: StoreError.unexpectedReply("the registry of demo has format 9 and 16 partitions")
            ) { try await writer(connection).takeOver() }
            #expect(try RedisDump(redis).changes(since: before) == [])
            connection.close()
        }
    }

    @Test func `a key of a wrong type is an error, and the rest is applied after its repair`() async throws {
        try await onLoop {
            let redis = try PrivateRedis()
            let connection = await connect(redis)
            let writer = writer(connection)
            try await writer.takeOver()
            let keys = RegistryKeys(app: "demo")
            let partition = keys.partition(ofDevice: "d1")
            let key = String(decoding: keys.prefix(ofPartition: partition), as: UTF8.self) + "bits:1:0"
            try redis.run("RPUSH", key, "x")
            await #expect(throws: StoreError.self) { try await writer.apply([Self.device(1)]) {} }
            try redis.run("DEL", key)
            #expect(try await writer.apply([Self.device(1)]) {} == [.applied])
            #expect(try self.record("d1", redis)?.tags == ["odd"])
            connection.close()
        }
    }

    @Test(arguments: [("64", "hashtable"), ("1024", "listpack")])
    func `the encoding of records follows from Redis's setting`(limit: String, encoding: String) async throws
    {
        try await onLoop {
            let redis = try PrivateRedis(["--hash-max-listpack-value", limit])
            let connection = await connect(redis)
            let writer = writer(connection)
            let farm = FarmRedis(connection: connection)
            #expect(try await farm.recordEncodings(of: "demo") == [])
            try await writer.takeOver()
            _ = try await writer.apply((0..<200).map { Self.device($0, user: "a-user-with-a-long-id-\($0)") })
            {}
            #expect(try await farm.recordEncodings(of: "demo") == Array(repeating: encoding, count: 16))
            connection.close()
        }
    }
}
