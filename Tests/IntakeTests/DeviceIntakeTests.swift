import ControlChannel
import EventLoop
import FarmHarness
import Logging
import LoopTesting
import RedisClient
import RedisProtocol
import Registry
import StoreProtocol
import Testing

@testable import Intake

/// The device intake with its own Redis server, and a registry that only remembers the inputs.
@Suite(.serialized) struct DeviceIntakeTests {
    private static func set(_ id: String) -> String {
        "{\"id\":\"\(id)\",\"token\":\"00112233445566778899\"}"
    }

    @Test func `inputs are applied in order, and refused inputs are told and removed`() async throws {
        try await DeviceIntakeFixture.run { farm in
            try await farm.push(
                Self.set("a"), "{\"id\":\"b\"}", "{\"id\":\"c\",\"remove\":true}",
                String(repeating: " ", count: DeviceInputRules.mostBytes + 1), "{\"forget_user\":\"u\"}")
            farm.registry.refused = ["c": "no device has this id"]
            farm.start()
            try await farm.untilFinished()
            #expect(farm.registry.applied == ["set a", "remove c", "forget u"])
            let events = try await farm.stream("events")
            #expect(events.map { $0["type"] } == Array(repeating: "device.refused", count: 3))
            let told = Set(events.map { "\($0["device"] ?? "-") \($0["field"] ?? "")" })
            #expect(told == ["b token", "c id", "- device"])
            #expect(try await farm.stream("refused_devices").count == 3)
            #expect(farm.counts.deviceInputs == 5 && farm.counts.refusedDeviceInputs == 3)
        }
    }

    @Test func `many inputs are applied in portions, and an input that comes later wakes the intake`()
        async throws
    {
        try await DeviceIntakeFixture.run { farm in
            let names = (0..<1200).map { "d\($0)" }
            for name in names { try await farm.push(Self.set(name)) }
            try await farm.push("{\"id\":\"bad\"}")
            farm.registry.refused = ["d1100": "the registry is full"]
            farm.start()
            try await farm.untilFinished()
            #expect(farm.registry.applied == names.map { "set \($0)" })
            #expect(farm.registry.calls == [1000, 200])
            let refused = try await farm.stream("refused_devices").map { $0["original"] }
            #expect(refused == [Self.set("d1100"), "{\"id\":\"bad\"}"])
            try await farm.push(Self.set("late"))
            try await farm.untilFinished()
            #expect(farm.registry.applied.last == "set late")
        }
    }

    @Test func `inputs that were applied and not finished are repeated by the next intake`() async throws {
        try await DeviceIntakeFixture.run { farm in
            try await farm.push(Self.set("a"), Self.set("b"))
            // After the first intake has applied the inputs, its lease goes to another host. So the intake cannot finish the
            // inputs.
            farm.registry.beforeReturn = { _ in try? await farm.takeLease() }
            farm.start()
            try await farm.until("the inputs are applied") { farm.registry.applied.count == 2 }
            try await farm.until("the old intake is fenced") { farm.isFenced }
            #expect(try await farm.length("devices_taken") == 2)
            try await farm.push(Self.set("c"))
            farm.registry.beforeReturn = { _ in }
            await farm.replaceIntake()
            try await farm.untilFinished()
            #expect(farm.registry.applied == ["set a", "set b", "set a", "set b", "set c"])
        }
    }

    @Test func `an owner that lost its lease is told so before it writes again`() async throws {
        try await DeviceIntakeFixture.run { farm in
            try await farm.push(Self.set("a"))
            farm.registry.beforeReturn = { isOwner throws(StoreError) in
                try await isOwner()
                try? await farm.takeLease()
                try await isOwner()
            }
            farm.start()
            try await farm.until("the old intake is fenced") { farm.isFenced }
            #expect(try await farm.length("devices_taken") == 1)
            #expect(farm.registry.takeOvers > 0)
        }
    }

    @Test func `an input that three processes did not survive is refused as poison`() async throws {
        try await DeviceIntakeFixture.run { farm in
            try await farm.push(Self.set("poison"), Self.set("good"))
            try await farm.takeInputs()
            for process in 0..<3 { try await farm.takeInputs(triedBy: "process \(process)") }
            farm.start()
            try await farm.untilFinished()
            #expect(farm.registry.applied == ["set good"] && farm.registry.calls == [1])
            #expect(try await farm.stream("refused_devices").map { $0["reason"] } == ["poison"])
        }
    }

    @Test func `an input is not poison if the processes that tried it were stopped`() async throws {
        try await DeviceIntakeFixture.run { farm in
            try await farm.push(Self.set("a"))
            try await farm.takeInputs()
            for _ in 0..<5 {
                farm.registry.beforeReturn = { _ throws(StoreError) in
                    _ = try? await Loop.sleep(for: .seconds(1000))
                    throw .redis(.closed)
                }
                let calls = farm.registry.calls.count
                await farm.replaceIntake()
                try await farm.until("it is tried") { farm.registry.calls.count > calls }
            }
            farm.registry.beforeReturn = { _ in }
            await farm.replaceIntake()
            try await farm.untilFinished()
            #expect(farm.registry.calls.allSatisfy { $0 == 1 } && farm.registry.applied.last == "set a")
            #expect(try await farm.stream("refused_devices").isEmpty)
        }
    }

    @Test func `an input is not poison if the processes waited for Redis, or failed, and survived`()
        async throws
    {
        try await DeviceIntakeFixture.run { farm in
            try await farm.push(Self.set("a"))
            try await farm.takeInputs()
            for _ in 0..<5 {
                farm.registry.waits = 1
                farm.registry.beforeReturn = { _ throws(StoreError) in throw .redis(.closed) }
                let calls = farm.registry.calls.count
                await farm.replaceIntake()
                try await farm.until("it is tried") { farm.registry.calls.count > calls }
            }
            farm.registry.beforeReturn = { _ in }
            await farm.replaceIntake()
            try await farm.untilFinished()
            #expect(farm.registry.applied.last == "set a")
            #expect(try await farm.stream("refused_devices").isEmpty)
        }
    }

    @Test func `an intake without the lease takes nothing`() async throws {
        try await DeviceIntakeFixture.run { farm in
            try await farm.push(Self.set("a"))
            farm.intake.setFenceToken(nil)
            farm.intake.start()
            try await farm.takeLease()
            #expect(try await farm.length("devices") == 1 && farm.registry.applied == [])
            farm.start()
            try await farm.untilFinished()
            #expect(farm.registry.applied == ["set a"])
        }
    }
}

/// A registry that remembers the inputs instead of storing devices.
@Loop private final class RecordedRegistry: DeviceWriter {
    var onWait: @Loop (_ isWaiting: Bool) async -> Void = { _ in }
    /// For each applied input: its kind and the device's id or the user, such as `set a`.
    private(set) var applied: [String] = []
    /// The number of inputs of each call.
    private(set) var calls: [Int] = []
    private(set) var takeOvers = 0
    /// For each device id or user whose inputs the registry refuses: the reason.
    var refused: [String: String] = [:]
    /// The number of times that the next call reports a wait for Redis.
    var waits = 0
    /// Called before `apply` returns.
    var beforeReturn:
        @Loop (_ isOwner: @Loop () async throws(StoreError) -> Void) async throws(StoreError) -> Void = {
            _ in
        }

    func takeOver() async throws(StoreError) { takeOvers += 1 }

    func apply(
        _ inputs: [DeviceInput], isOwner: @Loop () async throws(StoreError) -> Void
    ) async throws(StoreError) -> [DeviceInputError?] {
        for _ in 0..<waits {
            await onWait(true)
            await onWait(false)
        }
        waits = 0
        calls.append(inputs.count)
        let errors = inputs.map { input in
            switch input {
            case .set(let fields): note("set", fields.id)
            case .change(let id, _, _): note("change", id)
            case .remove(let id, _): note("remove", id)
            case .invalidate: note("invalidate", "a token")
            case .forget(let user): note("forget", user)
            }
        }
        try await beforeReturn(isOwner)
        return errors
    }

    private func note(_ word: String, _ id: String) -> DeviceInputError? {
        applied.append("\(word) \(id)")
        return refused[id].map { DeviceInputError(field: "id", position: 0, reason: $0, device: id) }
    }
}

@Loop private final class DeviceIntakeFixture {
    let registry = RecordedRegistry()
    private(set) var intake: DeviceIntake
    private let server: RedisServer
    private let redis: RedisConnection
    private let context: IntakeContext
    private var token: FenceToken?
    private var hosts = 0
    private let notices = Notices()

    @Loop private final class Notices { var isFenced = false }

    nonisolated static func run(_ body: @escaping @Loop (DeviceIntakeFixture) async throws -> Void)
        async throws
    {
        try await onLoop {
            let farm = try DeviceIntakeFixture(RedisServer(scratch: []))
            farm.redis.start()
            await farm.redis.whenReady()
            try await LoopTesting.run {
                try await farm.takeLease()
                try await body(farm)
            } cleaningUp: {
                await farm.intake.stop()
                farm.redis.close()
            }
        }
    }

    private init(_ server: RedisServer) {
        self.server = server
        redis = RedisConnection(
            RedisSettings(address: RedisAddress(endpoint: .unix(path: server.socket)), clientName: "test"))
        let notices = notices
        context = IntakeContext(
            redis: redis, shards: 4, log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ) { notice in
            if case .fenced = notice { notices.isFenced = true }
        }
        intake = Self.makeIntake(context, registry)
    }

    private static func makeIntake(_ context: IntakeContext, _ registry: RecordedRegistry) -> DeviceIntake {
        DeviceIntake(context, app: "demo", rules: DeviceInputRules(), writer: registry)
    }

    var counts: IntakeNotice.Heartbeat { context.counts }
    var isFenced: Bool { notices.isFenced }

    /// Gives the lease of the intake to a new host. The running intake keeps its old fencing token.
    func takeLease() async throws {
        hosts += 1
        let lease = AcquireLeases(
            nonce: "n\(hosts)", host: "here", lifetime: .seconds(60), predecessor: "n\(hosts - 1)",
            leases: [.intake])
        guard case .ours(let token)? = try await perform(lease).states.first else {
            throw TestFailure(what: "no lease")
        }
        self.token = token
    }

    /// Starts the intake with the present lease.
    func start() {
        intake.setFenceToken(token)
        intake.start()
    }

    /// Stops the intake, and starts another intake.
    func replaceIntake() async {
        await intake.stop()
        intake = Self.makeIntake(context, registry)
        start()
    }

    func push(_ inputs: String...) async throws {
        _ = try await perform(PushInputs(.devices, inputs.map { Array($0.utf8) }))
    }

    /// Takes the inputs like a process that crashes before it applies them.
    ///
    /// - Parameter process: the name of the process if it tries the first taken input alone.
    func takeInputs(triedBy process: String? = nil) async throws {
        guard let token else { return }
        _ = try await perform(
            TakeInputs(
                .devices, token: token, maxInputs: 500, maxBytes: 1 << 20, maxInputBytes: 1 << 16,
                triedBy: process))
    }

    func untilFinished() async throws {
        try await until("all inputs are finished") {
            let counts = try await (length("devices"), length("devices_taken"))
            return counts == (0, 0)
        }
    }

    func until(_ what: String, _ isTrue: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(20)
        while try await !isTrue() {
            guard ContinuousClock.now < end else { throw TestFailure(what: what) }
            try await Loop.sleep(for: .milliseconds(2))
        }
    }

    func length(_ list: String) async throws -> Int {
        let reply = try await redis.call(RESPCommand("LLEN", "{pushfarm:demo}:\(list)"))
        return reply.integer.map { Int($0) } ?? 0
    }

    func stream(_ name: String) async throws -> [[String: String]] {
        let reply = try await redis.call(RESPCommand("XRANGE", "{pushfarm:demo}:\(name)", "-", "+"))
        return (reply.array ?? []).map { entry in
            let words = entry.array?.last?.array?.compactMap(\.text) ?? []
            return Dictionary(
                stride(from: 0, to: words.count - 1, by: 2).map { (words[$0], words[$0 + 1]) },
                uniquingKeysWith: { $1 })
        }
    }

    private func perform<Step: Request>(_ request: Step) async throws -> Step.Reply {
        try await AppRedis(app: "demo", connection: redis).perform(request)
    }
}
