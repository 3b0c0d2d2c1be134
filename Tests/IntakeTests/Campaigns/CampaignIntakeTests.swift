import Campaigns
import ControlChannel
import EventLoop
import FarmHarness
import Logging
import LoopTesting
import POSIX
import RedisClient
import RedisProtocol
import Registry
import RegistryTesting
import Scheduling
import StoreProtocol
import Testing

@testable import Intake

/// The campaigns of an intake with its own Redis server and stored devices, without workers.
@Suite(.serialized) struct CampaignIntakeTests {
    private static func definition(_ id: String, _ fields: String) -> String {
        #"{"id":"\#(id)","payload":{"aps":{"alert":"x"}},"segment":"all"\#(fields)}"#
    }

    @Test func `each stored device is accepted once, and the campaign ends`() async throws {
        try await CampaignFixture.run(devices: 500) { farm in
            try await farm.push(Self.definition("c", ""))
            let record = try await farm.ended("c")
            #expect(record.state == .finished && record.counts[.accepted, 1] == 500)
            #expect(try await farm.batchTokens() == 500)
            let job = try await farm.job("c")
            #expect(job?.accepted == 500 && job?.isAdding == false && job?.queued == 500)
        }
    }

    @Test func `a record that cannot be read is unsendable, and an event tells it`() async throws {
        try await CampaignFixture.run(devices: 300) { farm in
            try await farm.spoil(record: "d-7")
            try await farm.push(Self.definition("c", ""))
            let record = try await farm.ended("c")
            #expect(record.counts[.accepted, 1] == 299 && record.counts[.unsendable, 1] == 1)
            let events = try await farm.events("campaign.devices_skipped")
            #expect(events.map { $0["devices"] } == ["1"] && events[0]["reason"]?.contains("record") == true)
        }
    }

    @Test func `a chunk that cannot be read is skipped with an event, and the others are sent`() async throws
    {
        try await CampaignFixture.run(devices: 300) { farm in
            let lost = try await farm.spoilChunk(ofDevice: "d-7")
            try await farm.push(Self.definition("c", ""))
            let record = try await farm.ended("c")
            #expect(record.state == .finished && record.counts[.accepted, 1] == 300 - lost && lost > 0)
            let events = try await farm.events("campaign.devices_skipped")
            #expect(events.count == 1 && events[0]["reason"]?.contains("chunk 0") == true)
        }
    }

    @Test func `a campaign waits while the app is full`() async throws {
        try await CampaignFixture.run(devices: 50) { farm in
            try await farm.set("max_backlog", "0")
            try await farm.push(Self.definition("c", ""))
            try await farm.until("the campaign runs") { try await farm.record("c")?.state == .running }
            #expect(try await farm.batchTokens() == 0)
            try await farm.set("max_backlog", "1000")
            #expect(try await farm.ended("c").counts[.accepted, 1] == 50)
        }
    }

    @Test func `a campaign that cannot fit is refused with the arithmetic`() async throws {
        try await CampaignFixture.run(devices: 500) { farm in
            try await farm.push(
                Self.definition("c", #","rate":0.1,"window":{"from":"05:00","to":"05:10","zone":"Etc/UTC"}"#))
            let record = try await farm.ended("c")
            #expect(record.state == .refused)
            #expect(record.reason?.contains("500 pushes at 0.1 a second") == true, "\(record.reason ?? "")")
            #expect(try await farm.job("c")?.state == .finished)
        }
    }

    @Test func `a campaign that does not fit into the app's rate limit is refused`() async throws {
        try await CampaignFixture.run(devices: 500) { farm in
            try await farm.set("rate", "0.1")
            try await farm.push(
                Self.definition("c", #","rate":50,"window":{"from":"05:00","to":"05:10","zone":"Etc/UTC"}"#))
            let record = try await farm.ended("c")
            #expect(record.state == .refused)
            #expect(record.reason?.contains("500 pushes at 0.1 a second") == true, "\(record.reason ?? "")")
        }
    }

    @Test func `without tzdata a campaign is refused with a clear reason`() async throws {
        try await CampaignFixture.run(devices: 1, zones: ZoneCatalog { _ in nil }) { farm in
            try await farm.push(Self.definition("c", ""))
            try await farm.until("the campaign is refused") {
                try await farm.events("campaign.refused").first?["reason"]?.contains("tzdata") == true
            }
        }
    }

    @Test func `an ended campaign expires with its job`() async throws {
        try await CampaignFixture.run(devices: 20) { farm in
            try await farm.push(
                Self.definition(
                    "c", #","start_at":"2020-01-01","window":{"from":"05:00","to":"05:10","zone":"Etc/UTC"}"#)
            )
            let record = try await farm.ended("c")
            #expect(record.state == .refused)
            try await farm.until("the record expires") { try await farm.lifetime("campaign:c") > 0 }
        }
    }

    @Test func `a new process continues a campaign after the devices that have bits`() async throws {
        try await CampaignFixture.run(devices: 400) { farm in
            try await farm.push(Self.definition("c", #","rate":300"#))
            try await farm.until("some pushes are accepted") { try await farm.batchTokens() > 50 }
            await farm.replaceIntake()
            #expect(try await farm.ended("c").counts[.accepted, 1] == 400)
            #expect(try await farm.batchTokens() == 400)
        }
    }
}

@Loop private final class CampaignFixture {
    private let server: RedisServer
    private let redis: RedisConnection
    private let context: IntakeContext
    private let zones: ZoneCatalog
    private let image: RegistryImage
    private var intake: CampaignIntake
    private var token: FenceToken?

    private static let setup = IntakeSetup(
        name: "demo", topic: "com.example.demo", maxJobBytes: 1 << 20, maxTokens: 100, jobRecords: 1000,
        jobRecordSeconds: 3600)

    nonisolated static func run(
        devices: Int, zones: sending ZoneCatalog = ZoneCatalog { path in try? SmallFile.read(path) },
        _ body: @escaping @Loop (CampaignFixture) async throws -> Void
    ) async throws {
        try await onLoop {
            let farm = try CampaignFixture(devices: devices, zones)
            farm.redis.start()
            await farm.redis.whenReady()
            for command in farm.image.commands { _ = try await farm.redis.call(command) }
            try await farm.takeLease()
            farm.start()
            try await body(farm)
            await farm.intake.stop()
            farm.redis.close()
        }
    }

    private init(devices: Int, _ zones: ZoneCatalog) throws {
        server = try RedisServer(scratch: [])
        redis = RedisConnection(
            RedisSettings(address: RedisAddress(endpoint: .unix(path: server.socket)), clientName: "test"))
        context = IntakeContext(
            redis: redis, shards: 4, log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ) { _ in }
        image = RegistryImage(app: "demo", (0..<devices).map { DeviceRecord.made($0) })
        self.zones = zones
        intake = CampaignIntake(context, Self.setup, zones: zones)
    }

    private func takeLease() async throws {
        let lease = AcquireLeases(
            nonce: "n", host: "here", lifetime: .seconds(600), predecessor: "", leases: [.intake])
        guard case .ours(let token)? = try await perform(lease).states.first else {
            throw TestFailure(what: "no lease")
        }
        self.token = token
    }

    private func start() {
        intake.setFenceToken(token)
        intake.start()
    }

    /// Ends the intake like a killed process, and starts another intake.
    func replaceIntake() async {
        await intake.stop()
        intake = CampaignIntake(context, Self.setup, zones: zones)
        start()
    }

    func push(_ campaign: String) async throws {
        _ = try await perform(PushInputs(.campaigns, [Array(campaign.utf8)]))
    }

    func record(_ id: String) async throws -> CampaignRecord? {
        let fields = try await perform(ReadCampaign(id))
        return fields.isEmpty ? nil : CampaignRecord(fields: fields)
    }

    func ended(_ id: String) async throws -> CampaignRecord {
        try await until("campaign \(id) has ended") { try await record(id)?.state?.isFinal == true }
        guard let record = try await record(id) else { throw TestFailure(what: "no record") }
        return record
    }

    func job(_ id: String) async throws -> JobRecord? {
        try await AppRedis(app: "demo", connection: redis).jobRecord(of: id)
    }

    /// The number of pushes in all batches.
    func batchTokens() async throws -> Int {
        let states = try await redis.call(RESPCommand("HVALS", "{pushfarm:demo}:states")).array ?? []
        return states.reduce(0) { $0 + ($1.text?.split(separator: "|").last?.count ?? 0) }
    }

    func events(_ kind: String) async throws -> [[String: String]] {
        let reply = try await redis.call(RESPCommand("XRANGE", "{pushfarm:demo}:events", "-", "+"))
        return (reply.array ?? []).map { entry in
            let words = entry.array?.last?.array?.compactMap(\.text) ?? []
            return Dictionary(
                stride(from: 0, to: words.count - 1, by: 2).map { (words[$0], words[$0 + 1]) },
                uniquingKeysWith: { $1 })
        }.filter { $0["type"] == kind }
    }

    /// Sets a field of the app's limits and of the operators' settings.
    func set(_ field: String, _ value: String) async throws {
        _ = try await redis.call(RESPCommand("HSET", "{pushfarm:demo}:admission", field, value))
    }

    func lifetime(_ key: String) async throws -> Int {
        Int(try await redis.call(RESPCommand("TTL", "{pushfarm:demo}:\(key)")).integer ?? 0)
    }

    /// Replaces the record of a device by bytes that are not a record.
    func spoil(record id: String) async throws {
        guard let place = image.places[id] else { throw TestFailure(what: "no device \(id)") }
        let keys = RegistryKeys(app: "demo").keys(ofPartition: place.partition)
        var command = RESPCommand("HSET")
        command.append(RegistryKey.records(of: place.ordinal).key(keys))
        command.append(RegistryKey.recordField(of: place.ordinal))
        command.append("nonsense")
        _ = try await redis.call(command)
    }

    /// Replaces the bits of all devices that are alive by bytes that are not a chunk, in the partition of a device.
    ///
    /// - Returns: the number of devices of the partition.
    func spoilChunk(ofDevice id: String) async throws -> Int {
        guard let place = image.places[id] else { throw TestFailure(what: "no device \(id)") }
        let keys = RegistryKeys(app: "demo").keys(ofPartition: place.partition)
        var read = RESPCommand("HGET")
        read.append(RegistryKey.names.key(keys))
        read.append("alive")
        let name = try await redis.call(read).text.flatMap { Int($0) } ?? -1
        var command = RESPCommand("SET")
        command.append(RegistryKey.bits(name: name, chunk: 0).key(keys))
        command.append("odd")
        _ = try await redis.call(command)
        return image.places.values.count { $0.partition == place.partition }
    }

    func until(_ what: String, _ isTrue: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while try await !isTrue() {
            guard ContinuousClock.now < end else { throw TestFailure(what: what) }
            try await Loop.sleep(for: .milliseconds(5))
        }
    }

    private func perform<Step: Request>(_ request: Step) async throws -> Step.Reply {
        try await AppRedis(app: "demo", connection: redis).perform(request)
    }
}
