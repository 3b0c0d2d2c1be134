import Segments
import Testing

/// `pushfarm debug fsck` with planted differences between a campaign's counts and its bits, without coordinators.
@Suite(.timeLimit(.minutes(5))) struct CampaignCheckTests {
    /// A campaign with three devices of partition 1 in the first round.
    private static func campaign() throws -> StoredDevices {
        let devices = try StoredDevices([])
        try devices.redis.run("ZADD", "{pushfarm:demo}:campaign_ids", "1", "c")
        try devices.redis.run(
            "HSET", "{pushfarm:demo}:campaign:c", "state", "finished", "audience_ends", "0 20", "audience:1",
            "3", "accepted:1", "3")
        try set([2, 3, 9], devices)
        return devices
    }

    private static func set(_ ordinals: [UInt16], _ devices: StoredDevices) throws {
        try devices.redis.run("DEL", "{pushfarm:demo}:sent:c:1:01:0")
        for ordinal in ordinals {
            let bytes = [UInt8(ordinal >> 8), UInt8(truncatingIfNeeded: ordinal)]
            try devices.redis.run(
                "APPEND", "{pushfarm:demo}:sent:c:1:01:0", String(decoding: bytes, as: UTF8.self))
        }
    }

    /// The faults of campaigns.
    private static func faults(_ devices: StoredDevices) async throws -> [String] {
        let fsck = try await devices.run("debug", "fsck", "--app", "demo")
        let faults = fsck.output.split(separator: "\n").filter { $0.contains("campaign") }
        #expect(fsck.status == (faults.isEmpty ? 0 : 1), "\(fsck)")
        return faults.map { String($0.drop { $0 == " " }) }
    }

    @Test func `fsck names the count of the record and the number of bits`() async throws {
        let devices = try Self.campaign()
        #expect(try await Self.faults(devices) == [])
        try Self.set([2, 9], devices)
        let fault = "campaign c: the record counts 3 devices that round 1 has handled, and the bitmaps have 2"
        #expect(try await Self.faults(devices) == [fault])
        let repair = try await devices.run("debug", "fsck", "--app", "demo", "--repair")
        #expect(repair.status == 1 && repair.output.contains(fault), "\(repair)")
        #expect(try await Self.faults(devices) == [fault], "a repair changes no campaign")
    }

    @Test func `a record that soon expires is not checked, because bits expire before it`() async throws {
        let devices = try Self.campaign()
        try Self.set([], devices)
        try devices.redis.run("EXPIRE", "{pushfarm:demo}:campaign:c", "7200")
        #expect(try await Self.faults(devices).count == 1)
        try devices.redis.run("EXPIRE", "{pushfarm:demo}:campaign:c", "3500")
        #expect(try await Self.faults(devices) == [])
        try devices.redis.run("DEL", "{pushfarm:demo}:campaign:c")
        #expect(try await Self.faults(devices) == [])
    }

    @Test func `a record of a wrong type is a fault`() async throws {
        let devices = try Self.campaign()
        try devices.redis.run("SET", "{pushfarm:demo}:campaign:c", "x")
        #expect(try await Self.faults(devices) == ["campaign c: the record is a string, not a hash"])
    }
}
