import EventLoop
import Logging
import PushModel
import RedisClient
import RedisProtocol
import Registry
import StoreProtocol
import Testing

@testable import Coordinator
@testable import Intake
@testable import JobSplitting

/// Jobs that name users or devices, with their own Redis server and a registry in it.
@Suite struct RecipientLookupTests {
    private static func token(_ number: Int) -> [UInt8] {
        [UInt8](repeating: 7, count: 30) + [UInt8(number >> 8), UInt8(truncatingIfNeeded: number)]
    }

    private static func device(
        _ number: Int, user: String? = nil, in environment: DeviceAddress.Environment = .production
    ) -> DeviceInput {
        let address = DeviceAddress(environment: environment, bytes: token(number))
        return .set(DeviceFields(id: "d-\(number)", addresses: [address], user: user))
    }

    @Loop private static func register(_ inputs: [DeviceInput], _ farm: IntakeFixture) async throws {
        let writer = RegistryWriter(
            app: "demo", connection: farm.redis, log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try await writer.takeOver()
        #expect(try await writer.apply(inputs) {} == inputs.map { _ in .applied })
    }

    private static let payload = #""payload":{"aps":{"alert":"Hi"}}"#

    @Loop private static func push(_ jobs: [String], _ farm: IntakeFixture) async throws {
        for job in jobs { try await farm.run("RPUSH", "pushfarm:demo", job) }
    }

    @Loop private static func finish(_ jobs: [String], _ farm: IntakeFixture) async throws {
        farm.consumer.start()
        for job in jobs {
            try await farm.until("\(job) is finished") {
                try await farm.work()
                return try await farm.isFinished(job)
            }
        }
        try await farm.audit()
    }

    /// The numbers of the devices that got a push of the job, in order.
    @Loop private static func reached(_ job: String, _ farm: IntakeFixture) -> [Int] {
        (0..<4000).filter { farm.sent["\(job) \(token($0))"] == 1 }
    }

    @Test func `users and devices get their pushes, and unknown recipients are counted`() async throws {
        try await IntakeFixture.run { farm in
            try await Self.register(
                (0..<3).map { Self.device($0, user: "u-7") } + [Self.device(3, user: "u-8"), Self.device(4)]
                    + [Self.device(5, user: "u-9", in: .sandbox)], farm)
            try await Self.push(
                [
                    #"{"id":"users","users":["u-7","nobody","u-8","u-7"],\#(Self.payload)}"#,
                    #"{"id":"devices","devices":["d-4","d-5","x","d-1"],\#(Self.payload)}"#,
                    #"{"id":"pushes","pushes":[{"device":"d-2","payload":{"a":1}},{"device":"x","payload":{}}]}"#,
                    #"{"id":"nobody","users":["a","b","u-9"],\#(Self.payload)}"#,
                    #"{"id":"wrong","users":[5],\#(Self.payload)}"#,
                    #"{"id":"users","devices":["d-1"],\#(Self.payload)}"#,
                ], farm)
            try await farm.submit(JobText(id: "plain", tokens: [JobText.token(1)]))
            farm.intake.start()
            try await Self.finish(["users", "devices", "pushes", "nobody", "plain"], farm)
            #expect(Self.reached("users", farm) == [0, 1, 2, 3])
            #expect(Self.reached("devices", farm) == [1, 4] && Self.reached("pushes", farm) == [2])
            let users = try await farm.jobRecord("users")
            #expect(users.submitted == 7 && users.accepted == 4 && users.duplicates == 3)
            #expect(users.unknownRecipients == 1 && users.delivered == 4)
            #expect(try await farm.jobRecord("devices").unknownRecipients == 2)
            #expect(try await farm.jobRecord("pushes").unknownRecipients == 1)
            let nobody = try await farm.jobRecord("nobody")
            #expect(nobody.submitted == 0 && nobody.accepted == 0 && nobody.unknownRecipients == 3)
            let events = try await farm.events()
            let accepted = events.filter { $0["type"] == "job.accepted" }
            #expect(accepted.first { $0["job"] == "users" }?["unknown_recipients"] == "1")
            #expect(accepted.first { $0["job"] == "plain" }?["unknown_recipients"] == nil)
            #expect(events.contains { $0["type"] == "job.finished" && $0["job"] == "nobody" })
            #expect(events.contains { $0["type"] == "job.refused" && $0["field"] == "users[0]" })
            #expect(events.contains { $0["type"] == "job.duplicate" && $0["job"] == "users" })
        }
    }

    /// The job needs many steps. Between them, other intakes take over, and the registry changes.
    @Test func `all steps of a job use one look-up`() async throws {
        let limits = StepLimits(
            tokens: 100, jobs: 5, batches: 20, events: 3, bytes: 1 << 20, positions: 50,
            tokensBeforeEarlyEnd: 50)
        try await IntakeFixture.run(limits: limits) { farm in
            try await Self.register((0..<2000).map { Self.device($0, user: "u-\($0 / 500)") }, farm)
            try await Self.push(
                [#"{"id":"j","users":["u-0","u-1","u-2","u-3"],\#(Self.payload)}"#], farm)
            farm.intake.start()
            for round in 0..<4 {
                try await farm.until("the job is split in part") {
                    try await farm.fixture.store.jobRecord(of: "j") != nil
                }
                try await Self.register(
                    [.remove(id: "d-\(round)"), Self.device(3000 + round, user: "u-0")], farm)
                try await farm.replaceIntake(limits: limits)
            }
            try await farm.until("the job is split") {
                try await farm.perform(ReadDepths(shards: IntakeFixture.shards)).taken == 0
            }
            try await Self.finish(["j"], farm)
            #expect(Self.reached("j", farm) == Array(0..<2000))
        }
    }

    @Test func `a look-up of an intake that lost its lease is repeated by the next intake`() async throws {
        try await IntakeFixture.run { farm in
            try await Self.register((0..<5).map { Self.device($0) }, farm)
            let job = #"{"id":"j","devices":["d-0","d-1"],\#(Self.payload)}"#
            try await farm.run("RPUSH", "{pushfarm:demo}:lookups", job)
            let old = farm.intakeToken
            try await farm.takeLeases()
            await #expect(throws: StoreError.fenced(lease: "intake")) {
                _ = try await farm.perform(
                    FinishLookups(token: old, step: 1, jobs: [.found(Array(job.utf8))]))
            }
            farm.intake.start()
            try await Self.finish(["j"], farm)
            #expect(Self.reached("j", farm) == [0, 1])
        }
    }

    @Test func `a job with too many tokens for its users is refused, and no job blocks the next`()
        async throws
    {
        try await IntakeFixture.run { farm in
            // The fixture allows 5,000 tokens in a job.
            try await Self.register((0..<600).map { Self.device($0, user: "u") }, farm)
            let users = Array(repeating: "\"u\"", count: 10).joined(separator: ",")
            try await Self.push(
                [
                    #"{"id":"large","users":[\#(users)],\#(Self.payload)}"#,
                    #"{"id":"next","devices":["d-9"],\#(Self.payload)}"#,
                ], farm)
            farm.intake.start()
            try await Self.finish(["next"], farm)
            let refused = try await farm.events().filter { $0["type"] == "job.refused" }
            #expect(refused.map { $0["field"] } == ["users"] && refused[0]["job"] == "large")
            #expect(refused[0]["reason"]?.contains("5000 tokens") == true)
        }
    }

    @Test func `a damaged index refuses the job, and a job that crashed three processes is poison`()
        async throws
    {
        try await IntakeFixture.run { farm in
            try await Self.register([Self.device(1), Self.device(2)], farm)
            let keys = RegistryKeys(app: "demo")
            let partition = keys.partition(ofDevice: "d-1")
            var command = RESPCommand("HSET")
            command.append(RegistryKey.index(.id, bucket: 0).key(keys.keys(ofPartition: partition)))
            command.append(RegistryHash(id: "d-1").field.bytes)
            command.append("12")
            _ = try await farm.redis.call(command)
            for process in ["p1", "p2", "p3"] {
                try await farm.run("RPUSH", "{pushfarm:demo}:lookups", "poison")
                _ = try await farm.perform(
                    ReadLookups(token: farm.intakeToken, maxJobs: 1, maxBytes: 1, triedBy: process))
                try await farm.run("LTRIM", "{pushfarm:demo}:lookups", "0", "0")
            }
            try await Self.push(
                [
                    #"{"id":"damaged","devices":["d-1"],\#(Self.payload)}"#,
                    #"{"id":"good","devices":["d-2"],\#(Self.payload)}"#,
                ], farm)
            farm.intake.start()
            try await Self.finish(["good"], farm)
            let refused = try await farm.events().filter { $0["type"] == "job.refused" }
            #expect(
                Set(refused.map { $0["reason"] == "poison" ? "poison" : $0["job"] }) == ["poison", "damaged"])
        }
    }
}
