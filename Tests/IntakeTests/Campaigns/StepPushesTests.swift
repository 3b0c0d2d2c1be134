import Campaigns
import JobSplitting
import PushModel
import Scheduling
import StoreProtocol
import Testing

@testable import Intake

/// The devices of a step become pushes, and every device is counted once.
struct StepPushesTests {
    private static func campaign(_ payload: String = #"{"aps":{"alert":"Hi {{user|you}}"}}"#) throws
        -> Campaign
    {
        try CampaignParser(zones: { name in name == "UTC" ? Self.utc : nil }).parse(
            Array(#"{"id":"c","segment":"all","payload":\#(payload)}"#.utf8))
    }

    /// A file of tzdata without changes.
    /// - Source: RFC 8536, section 3.
    private static let utc: TimeZoneRules? = {
        let counts: [UInt8] = [0, 0, 0, 0, 1, 4].flatMap { [0, 0, 0, $0] }
        let header = Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15) + counts
        let block: [UInt8] = [0, 0, 0, 0, 0, 0] + Array("UTC\0".utf8)
        return try? TimeZoneRules(
            name: "UTC", bytes: header + block + header + block + Array("\nUTC0\n".utf8))
    }()

    private static func device(_ number: Int, user: String? = nil, bytes: Int = 32) -> StepPushes.Device {
        let token = [UInt8](repeating: UInt8(number / 256), count: bytes - 1) + [UInt8(number % 256)]
        return .push(
            CampaignDevice(token: token, values: user.map { [("user", .text($0))] } ?? []))
    }

    private static func rules(_ steps: StepLimits = StepLimits()) -> StepPushes.Rules {
        StepPushes.Rules(
            app: "demo", topic: "com.example.demo", limits: JobLimits(), now: 1_700_000_000, shards: 4,
            steps: steps)
    }

    private static func pushes(
        _ devices: [StepPushes.Device], _ steps: StepLimits = StepLimits()
    ) throws -> StepPushes {
        StepPushes(
            devices, of: try campaign(), id: "c", rules: rules(steps), isFallback: false, expiry: nil)
    }

    /// The numbers of pushes of all batches.
    private static func count(_ pushes: StepPushes) -> Int { pushes.batches.reduce(0) { $0 + $1.tokens } }

    @Test func `each device gets a push of the campaign's job`() throws {
        let pushes = try Self.pushes((0..<700).map { Self.device($0, user: "u\($0)") })
        #expect(pushes.accepted == 700 && pushes.handled == 700 && Self.count(pushes) == 700)
        #expect(pushes.excluded == 0 && pushes.unsendable == 0 && pushes.fault == nil)
        #expect(pushes.batches.allSatisfy { $0.lane == .high && $0.due == 0 })
        let batch = try Batch(decoding: try #require(pushes.batches.first).body)
        #expect(batch.jobID(of: 0) == "c")
    }

    @Test func `removed, unsendable, malformed and repeated devices are counted apart`() throws {
        let pushes = try Self.pushes([
            Self.device(1), .removed, Self.device(2, bytes: 4), .unsendable("no record"), Self.device(1),
            Self.device(3),
        ])
        #expect(pushes.accepted == 2 && Self.count(pushes) == 2 && pushes.acceptedIndexes == [0, 5])
        #expect(pushes.excluded == 2 && pushes.unsendable == 2 && pushes.handled == 6)
        #expect(pushes.fault != nil)
    }

    @Test func `limits apply only to devices that would get a push`() throws {
        var devices = [
            Self.device(1), Self.device(2), .removed, .unsendable("no record"), Self.device(3),
            Self.device(4),
        ]
        devices[0].limit(.capped)
        devices[1].limit(.quiet)
        devices[2].limit(.capped)
        devices[3].limit(.quiet)
        devices[4].limit(.allowed)
        let pushes = try Self.pushes(devices)
        #expect(pushes.accepted == 2 && pushes.acceptedIndexes == [4, 5] && pushes.handled == 6)
        #expect(pushes.capped == 1 && pushes.excluded == 2 && pushes.unsendable == 1)
    }

    @Test func `a device whose payload is too large does not stop the others`() throws {
        let large = String(repeating: "x", count: 5_000)
        let devices = (0..<100).map { Self.device($0, user: $0 % 33 == 7 ? large : "u") }
        let pushes = try Self.pushes(devices)
        #expect(pushes.unsendable == 3 && pushes.accepted == 97 && pushes.handled == 100)
        #expect(pushes.acceptedIndexes == (0..<100).filter { $0 % 33 != 7 })
        #expect(pushes.fault != nil)
    }

    @Test(arguments: [1, 5, 64]) func `devices that do not fit stay for the next step`(most: Int) throws {
        let devices = (0..<100).map { number -> StepPushes.Device in
            number % 10 == 3 ? .removed : Self.device(number)
        }
        var (rest, accepted, excluded, steps) = (devices[...], 0, 0, 0)
        while !rest.isEmpty {
            let pushes = try Self.pushes(Array(rest), StepLimits(tokens: most))
            #expect(pushes.accepted <= most && pushes.accepted == Self.count(pushes))
            #expect(pushes.accepted + pushes.excluded == pushes.handled && pushes.handled > 0)
            accepted += pushes.accepted
            excluded += pushes.excluded
            steps += 1
            rest = rest.dropFirst(pushes.handled)
        }
        #expect(accepted == 90 && excluded == 10 && steps >= 90 / most)
    }
}
