import EventLoop
import LoopTesting
import PushModel
import RedisProtocol
import Registry
import RegistryTesting
import Segments
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// Reads registries that ``RegistryImage`` wrote to a private Redis.
@Suite(.timeLimit(.minutes(5))) struct RegistryReaderTests {
    private static let today = 20_000

    /// Runs `body` with a reader of the records, for a Redis user who may only read.
    private func withReader(
        _ image: RegistryImage,
        _ body: @escaping @Loop @Sendable (RegistryReader, PrivateRedis) async throws -> Void
    ) async throws {
        try await onLoop {
            let redis = try PrivateRedis()
            for reply in try redis.run(together: image.commands) { #expect(reply.error == nil) }
            try redis.run(
                "ACL", "SETUSER", "reader", "on", ">secret", "~{pushfarm:demo*", "-@all", "+get", "+hget",
                "+hmget", "+hgetall", "+client|setname")
            var address = redis.address
            (address.user, address.password) = ("reader", "secret")
            var settings = RedisSettings(address: address, clientName: "test")
            settings.toleratesNoScripts = true
            let connection = RedisConnection(settings)
            connection.start()
            await connection.whenReady()
            try await run {
                try await body(try await RegistryReader.open(app: "demo", connection: connection), redis)
            } cleaningUp: {
                connection.close()
            }
        }
    }

    private static let tags = ["sport", "sports", "news"]
    private static let zones = ["Europe/Berlin", "Europe/Paris", "Asia/Tokyo"]

    /// Devices with random attributes. Some devices have no address and get no pushes.
    private static func records(_ count: Int, seed: UInt64) -> [DeviceRecord] {
        var random = SeededRandom(seed: seed)
        return (0..<count).map { number in
            DeviceRecord.made(
                number, user: random.happens(0.8) ? "u-\(number / 3)" : nil,
                tags: tags.filter { _ in random.happens(0.5) },
                details: random.happens(0.9) ? [.zone: zones.randomElement(using: &random)!] : [:],
                addresses: [0, 1, 1, 1, 2].randomElement(using: &random)!,
                day: today - Int.random(in: 0...9, using: &random))
        }
    }

    private static let segments: [(text: String, contains: @Sendable (DeviceRecord) -> Bool)] = [
        ("all", { _ in true }),
        ("tag:sport", { $0.tags.contains("sport") }),
        ("tag:sport*", { $0.tags.contains { $0.hasPrefix("sport") } }),
        ("!tag:news", { !$0.tags.contains("news") }),
        ("zone:Europe/*", { $0.zone?.hasPrefix("Europe/") ?? false }),
        ("environment:sandbox", { $0.addresses.count > 1 }),
        ("seen<4d", { $0.lastSeenDay > today - 4 }),
        ("tag:unknown", { _ in false }),
        (
            "tag:sport & (zone:Europe/* | zone:Asia/Tokyo) & !tag:news | seen<1d",
            { device in
                device.tags.contains("sport") && device.zone != nil && !device.tags.contains("news")
                    || device.lastSeenDay == today
            }
        ),
    ]

    @Test(arguments: [1, 16, 256]) func `counts of segments agree with the records`(partitions: Int)
        async throws
    {
        let records = Self.records(400, seed: 1)
        // With this gap, the devices of a partition are in several chunks.
        let image = RegistryImage(app: "demo", records, partitions: partitions, gap: 4000)
        try await withReader(image) { reader, _ in
            let states = try await reader.partitions()
            #expect(states.count == partitions && states.reduce(0) { $0 + $1.devices } == 400)
            let expressions = try Self.segments.map { try SegmentExpression(parsing: $0.text) }
            let counts = try await reader.counts(of: expressions, today: Self.today, states)
            for (segment, count) in zip(Self.segments, counts) {
                #expect(count == records.count { $0.isAlive && segment.contains($0) }, "\(segment.text)")
            }
        }
    }

    @Test func `many segments are counted in groups`() async throws {
        let image = RegistryImage(app: "demo", Self.records(50, seed: 2))
        try await withReader(image) { reader, _ in
            let many = try (0..<14).map { _ in
                try SegmentExpression(
                    parsing: (0..<60).map { "tag:t\($0)" }.joined(separator: "|") + "|tag:sport")
            }
            let counts = try await reader.counts(
                of: many + [.all], today: Self.today, try await reader.partitions())
            let sport = try await reader.counts(
                of: [.term(.value(.tag, "sport"))], today: Self.today, try await reader.partitions())
            #expect(counts.count == 15 && Set(counts.dropLast()) == Set(sport) && sport[0] > 0)
        }
    }

    @Test func `a sample has ten devices of the segment with their records`() async throws {
        let records = Self.records(300, seed: 3)
        let image = RegistryImage(app: "demo", records, gap: 300)
        try await withReader(image) { reader, _ in
            var random = SeededRandom(seed: 1)
            let states = try await reader.partitions()
            let sport = SegmentExpression.term(.value(.tag, "sport"))
            let found = try await reader.sample(10, of: sport, today: Self.today, states, using: &random)
            #expect(Set(found.devices.map(\.record.id)).count == 10)
            for device in found.devices {
                #expect(records.contains(device.record) && device.place == image.places[device.record.id])
                #expect(device.record.isAlive && device.record.tags.contains("sport"))
            }
            #expect(found.count == records.count { $0.isAlive && $0.tags.contains("sport") })
            let none = try await reader.sample(
                10, of: .term(.value(.tag, "x")), today: Self.today, states, using: &random)
            #expect(none.devices.isEmpty && none.count == 0)
        }
    }

    @Test func `recipients of a job are found together`() async throws {
        let records = Self.records(300, seed: 7)
        try await withReader(RegistryImage(app: "demo", records, gap: 50)) { reader, redis in
            let users = (0..<110).map { "u-\($0)" } + ["u-5", "", "\u{E9}"]
            for (user, found) in zip(users, try await reader.recipients(users, .user)) {
                #expect(found.map(\.id).sorted() == records.filter { $0.user == user }.map(\.id).sorted())
            }
            let ids = records.map(\.id) + ["d-300", "u-5"]
            let devices = try await reader.recipients(ids, .id)
            #expect(devices.map(\.count) == records.map { _ in 1 } + [0, 0])
            for (record, found) in zip(records, devices.compactMap(\.first)) {
                #expect(found.id == record.id && found.user == record.user)
                #expect(found.addresses == record.addresses)
                let tokens = record.addresses.filter { $0.address.environment == .production }
                #expect(found.token(in: .production) == tokens.max { $0.since < $1.since }?.address.bytes)
                #expect((found.token(in: .sandbox) != nil) == (record.addresses.count > 1))
            }
            #expect(try await reader.recipients([], .id).isEmpty)
            // A record that cannot be read is left out.
            let key = try #require(try redis.run("KEYS", "{pushfarm:demo:r*}:dev:*").array?.first?.text)
            for field in try redis.run("HKEYS", key).array?.compactMap(\.text) ?? [] {
                try redis.run("HSET", key, field, "no record")
            }
            let rest = try await reader.recipients(ids, .id).count { $0.isEmpty }
            #expect(rest > 2 && rest < ids.count)
        }
    }

    @Test func `devices are found by id, user and address`() async throws {
        let records = Self.records(200, seed: 4)
        try await withReader(RegistryImage(app: "demo", records, gap: 1)) { reader, _ in
            for record in records {
                #expect(try await reader.device(id: record.id).devices.map(\.record) == [record])
                for entry in record.addresses {
                    #expect(try await reader.device(with: entry.address).devices.map(\.record) == [record])
                }
            }
            for user in Set(records.compactMap(\.user)) {
                let found = try await reader.devices(ofUser: user).devices.map(\.record.id).sorted()
                #expect(found == records.filter { $0.user == user }.map(\.id).sorted())
            }
            #expect(try await reader.device(id: "d-200").devices.isEmpty)
            #expect(try await reader.devices(ofUser: "d-1").devices.isEmpty)
            #expect(try await reader.device(with: .made(200)).devices.isEmpty)
        }
    }

    @Test func `a record that lacks the address or the user of its index entry is not found`() async throws {
        let record = DeviceRecord.made(1, user: "u-1", addresses: 2)
        let image = RegistryImage(app: "demo", [record], partitions: 1)
        try await withReader(image) { reader, redis in
            var other = record
            (other.user, _) = ("u-2", other.leave(address: record.addresses[1].address.identity))
            let names = try await reader.names(of: 0)
            var command = RESPCommand("HSET", key: Array("{pushfarm:demo:r00}:dev:0".utf8), "0")
            command.append(try #require(other.bytes(names: names)))
            try redis.run(command)
            #expect(try await reader.devices(ofUser: "u-1").devices.isEmpty)
            #expect(try await reader.device(with: .made(1, 1)).devices.isEmpty)
            #expect(try await reader.device(with: .made(1, 0)).devices.map(\.record) == [other])
            // The index of users has no entry for the new user.
            #expect(try await reader.devices(ofUser: "u-2").devices.isEmpty)
        }
    }

    @Test func `all devices are read in pages, also devices that get no pushes`() async throws {
        let records = Self.records(1000, seed: 5)
        let image = RegistryImage(app: "demo", records, partitions: 2, gap: 20)
        try await withReader(image) { reader, _ in
            var scan = DeviceScan(reader, try await reader.partitions())
            var found: [StoredDevice] = []
            while let page = try await scan.next() {
                #expect(page.unreadable.isEmpty)
                found += page.devices
            }
            let places = image.places.values.sorted {
                ($0.partition, $0.ordinal) < ($1.partition, $1.ordinal)
            }
            #expect(found.map(\.place) == places)
            #expect(Set(found.map(\.record.id)) == Set(records.map(\.id)) && found.count == 1000)
            let wanted = Dictionary(uniqueKeysWithValues: records.map { ($0.id, $0) })
            #expect(found.allSatisfy { wanted[$0.record.id] == $0.record })
        }
    }

    @Test func `an app without devices has an empty registry`() async throws {
        try await withReader(RegistryImage(app: "shop", [])) { reader, _ in
            let states = try await reader.partitions()
            #expect(try await reader.counts(of: [.all], today: Self.today, states) == [0])
            var scan = DeviceScan(reader, states)
            #expect(try await scan.next() == nil)
            #expect(try await reader.device(id: "d-1").devices.isEmpty)
        }
    }

    @Test func `a name that was added after the dictionary was read is read again`() async throws {
        let image = RegistryImage(app: "demo", [.made(1)], partitions: 1)
        try await withReader(image) { reader, redis in
            _ = try await reader.device(id: "d-1")
            try redis.run("HSET", "{pushfarm:demo:r00}:names", "tag:new", "77")
            var names = try await reader.names(of: 0)
            #expect(names.number(of: .tag("new")) == nil)
            let record = DeviceRecord.made(1, tags: ["new"])
            names = AttributeNames(
                fields: names.all.map { ($0.key.text, "\($0.value)") } + [("tag:new", "77")])
            var command = RESPCommand("HSET", key: Array("{pushfarm:demo:r00}:dev:0".utf8), "0")
            command.append(try #require(record.bytes(names: names)))
            try redis.run(command)
            let page = try await reader.devices(at: [DevicePlace(partition: 0, ordinal: 0)])
            #expect(page.devices.map(\.record) == [record] && page.unreadable.isEmpty)
        }
    }

    @Test func `devices are found after buckets were divided`() async throws {
        let records = Self.records(300, seed: 6)
        let (old, new) = (
            RegistryImage(app: "demo", records, partitions: 1, buckets: 1),
            RegistryImage(app: "demo", records, partitions: 1, buckets: 7)
        )
        try await withReader(old) { reader, redis in
            #expect(try await reader.device(id: "d-0").devices.count == 1)
            try redis.run("FLUSHALL")
            _ = try redis.run(together: new.commands)
            for record in records {
                #expect(try await reader.device(id: record.id).devices.map(\.record) == [record])
            }
        }
    }

    private static let spoilt: [(key: String, words: [String])] = [
        ("{pushfarm:demo:r00}:bits:1:0", ["SET", "x"]),
        ("{pushfarm:demo:r00}:bits:1:0", ["HSET", "a", "b"]),
        ("{pushfarm:demo:r00}:names", ["SET", "x"]),
        ("{pushfarm:demo:r00}:meta", ["SET", "x"]),
    ]

    @Test(arguments: spoilt) func `data that cannot be read are an error with the key or Redis's reason`(
        key: String, words: [String]
    ) async throws {
        try await withReader(RegistryImage(app: "demo", [.made(1)], partitions: 1)) { reader, redis in
            try redis.run("DEL", key)
            var command = RESPCommand(words[0], key)
            for word in words.dropFirst() { command.append(word) }
            try redis.run(command)
            await #expect {
                let states = try await reader.partitions()
                _ = try await reader.counts(of: [.all], today: Self.today, states)
            } throws: { error in
                "\(error)".contains(key) || "\(error)".contains("WRONGTYPE")
            }
        }
    }

    @Test func `records that cannot be read are listed, and the others are read`() async throws {
        let image = RegistryImage(app: "demo", (1...3).map { .made($0) }, partitions: 1)
        try await withReader(image) { reader, redis in
            try redis.run("HSET", "{pushfarm:demo:r00}:dev:0", "1", "x", "5", "y", "500", "z", "a", "b")
            var scan = DeviceScan(reader, try await reader.partitions())
            let page = try #require(try await scan.next())
            #expect(page.devices.map(\.record.id) == ["d-1", "d-3"])
            #expect(page.unreadable.map(\.ordinal) == [1, 5])
            #expect(try await reader.device(id: "d-2").unreadable.map(\.ordinal) == [1])
        }
    }

    @Test(arguments: ["0", "3", "512", "x"]) func `an impossible number of partitions is an error`(
        count: String
    ) async throws {
        try await onLoop {
            let redis = try PrivateRedis()
            try redis.run("HSET", "{pushfarm:demo}:registry", "partitions", count)
            let connection = RedisConnection(RedisSettings(address: redis.address, clientName: "test"))
            connection.start()
            await connection.whenReady()
            await #expect(throws: StoreError.self) {
                _ = try await RegistryReader.open(app: "demo", connection: connection)
            }
            connection.close()
        }
    }
}
