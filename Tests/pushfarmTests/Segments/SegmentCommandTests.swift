import FarmHarness
import Foundation
import Registry
import RegistryTesting
import Testing

/// The commands of `pushfarm segments`, on a private Redis.
@Suite(.timeLimit(.minutes(5))) struct SegmentCommandTests {
    /// 30 devices with the numbers 0 to 29. Even numbers have the tag `sport`, and multiples of 3 are in Berlin. The last 5
    /// devices have no address, so they get no pushes.
    private static func devices() throws -> StoredDevices {
        try StoredDevices(
            (0..<30).map { number in
                .made(
                    number, user: "u-\(number / 2)", tags: number.isMultiple(of: 2) ? ["sport"] : ["news"],
                    details: number.isMultiple(of: 3) ? [.zone: "Europe/Berlin"] : [:],
                    addresses: number < 25 ? 1 : 0, day: StoredDevices.today - number)
            })
    }

    @Test func `count prints the devices of a segment and of the app`() async throws {
        let devices = try Self.devices()
        let text = try await devices.run("segments", "count", "tag:sport & zone:Europe/*", "--app", "demo")
        #expect(text.status == 0 && text.output == "5 of 25 devices\n", "\(text)")
        let one = try await devices.document("segments", "count", "!tag:sport | seen<2d", "--app", "demo")
        #expect(one["devices"] as? Int == 13 && one["all_devices"] as? Int == 25, "\(one)")
        let other = try await devices.run("segments", "count", "all", "--app", "shop")
        #expect(other.output == "0 of 0 devices\n", "\(other)")
    }

    @Test func `a fault of an expression is shown with its place`() async throws {
        let devices = try Self.devices()
        for words in [["count"], ["sample"], ["save", "fans"]] {
            let found = try await devices.run(
                ["segments"] + words + ["tag:sport & tags:b", "--app", "demo"])
            #expect(found.status == 2 && found.output.isEmpty, "\(found)")
            #expect(
                found.error == """
                    pushfarm: there is no attribute "tags"; did you mean "tag"?
                      tag:sport & tags:b
                                  ^

                    """, "\(found)")
        }
        #expect(try devices.redis.run("EXISTS", "{pushfarm:demo}:segments").integer == 0)
    }

    @Test func `a segment is saved, counted by name, listed, replaced and removed`() async throws {
        let devices = try Self.devices()
        let dry = try await devices.run("segments", "save", "fans", "tag:sport", "--app", "demo", "--dry-run")
        #expect(dry.output == "demo: segment fans would be saved\n", "\(dry)")
        #expect(try devices.redis.run("EXISTS", "{pushfarm:demo}:segments").integer == 0)

        let saved = try await devices.document("segments", "save", "fans", "tag:sport", "--app", "demo")
        #expect(saved["changed"] as? Bool == true && saved["before"] is NSNull, "\(saved)")
        let again = try await devices.run("segments", "save", "fans", "tag:sport", "--app", "demo")
        #expect(again.output == "demo: segment fans was saved already\n", "\(again)")
        let count = try await devices.document("segments", "count", "fans", "--app", "demo")
        #expect(count["devices"] as? Int == 13 && count["expression"] as? String == "tag:sport", "\(count)")

        let new = try await devices.document("segments", "save", "fans", "tag:news", "--app", "demo")
        #expect(new["before"] as? String == "tag:sport", "\(new)")
        _ = try await devices.document("segments", "save", "berlin", "zone:Europe/Berlin", "--app", "demo")
        let list = try await devices.document("segments", "list", "--app", "demo")
        let rows = try #require(list["segments"] as? [[String: Any]])
        #expect(rows.map { $0["name"] as? String } == ["berlin", "fans"])
        #expect(rows.map { $0["devices"] as? Int } == [9, 12])
        #expect(rows.allSatisfy { ($0["by"] as? String)?.isEmpty == false && ($0["at"] as? Int ?? 0) > 0 })
        let table = try await devices.run("segments", "list", "--app", "demo")
        #expect(table.output.contains("berlin") && table.output.contains("zone:Europe/Berlin"), "\(table)")

        let kept = try await devices.run("segments", "remove", "fans", "--app", "demo", "--dry-run")
        #expect(kept.status == 0 && kept.output == "demo: segment fans would be removed\n", "\(kept)")
        let removed = try await devices.document("segments", "remove", "fans", "--app", "demo")
        #expect(removed["before"] as? String == "tag:news", "\(removed)")
        let gone = try await devices.run("segments", "count", "berln", "--app", "demo")
        #expect(gone.status == 2 && gone.error.contains("did you mean \"berlin\"?"), "\(gone)")

        let log = try await devices.run("events", "--operations", "--json")
        let lines = log.output.split(separator: "\n").filter { $0.contains("segments") }
        #expect(lines.count == 4, "the audit log has each change: \(log)")
    }

    @Test(arguments: ["all", "a b", "tag:a", "-x", ""]) func `a word that is no name is not saved`(
        name: String
    ) async throws {
        let result = try await ProgramRun.run([
            "segments", "save", "--app", "demo", "--redis", "redis://127.0.0.1:1", "--", name, "tag:a",
        ])
        #expect(result.status == 2 && result.error.contains("A segment's name"), "\(result)")
    }

    @Test func `an app has at most 1,000 saved segments`() async throws {
        let devices = try Self.devices()
        try devices.redis.run(
            ["HSET", "{pushfarm:demo}:segments"]
                + (0..<1000).flatMap { ["s-\($0)", #"{"expression":"tag:sport"}"#] })
        let more = try await devices.run("segments", "save", "more", "tag:a", "--app", "demo")
        #expect(more.status == 1 && more.error.contains("1,000 saved segments"), "\(more)")
        let same = try await devices.run("segments", "save", "s-7", "tag:a", "--app", "demo")
        #expect(same.status == 0, "\(same)")
    }

    @Test func `list shows the other segments if one cannot be read`() async throws {
        let devices = try Self.devices()
        try devices.redis.run(
            "HSET", "{pushfarm:demo}:segments", "good", #"{"expression":"tag:sport"}"#, "bad", "?", "later",
            #"{"expression":"weather:sunny"}"#)
        let list = try await devices.run("segments", "list", "--app", "demo")
        #expect(list.status == 1 && list.error.contains("cannot be read: bad, later"), "\(list)")
        #expect(list.output.contains("good") && list.output.contains("13"), "\(list)")
        let bad = try await devices.run("segments", "count", "bad", "--app", "demo")
        #expect(bad.status == 1 && bad.error.contains("\"bad\" of demo cannot be read"), "\(bad)")
        let later = try await devices.run("segments", "count", "later", "--app", "demo")
        #expect(later.status == 2 && later.error.contains("segment later: there is no attribute"), "\(later)")
        let removed = try await devices.run("segments", "remove", "bad", "--app", "demo")
        #expect(removed.status == 0, "\(removed)")
    }

    @Test func `sample shows ten devices with shortened tokens`() async throws {
        let devices = try Self.devices()
        let found = try await devices.document("segments", "sample", "tag:sport", "--app", "demo")
        let sample = try #require(found["sample"] as? [[String: Any]])
        #expect(found["devices"] as? Int == 13 && sample.count == 10)
        #expect(Set(sample.compactMap { $0["id"] as? String }).count == 10)
        for device in sample {
            #expect(device["tags"] as? [String] == ["sport"])
            let addresses = try #require(device["addresses"] as? [[String: Any]])
            let token = try #require(addresses.first?["token"] as? String)
            #expect(token.count == 9 && token.hasSuffix("…"))
        }
        let text = try await devices.run("segments", "sample", "tag:sport", "--app", "demo")
        #expect(text.status == 0 && text.output.hasSuffix("10 of 13 devices\n"), "\(text)")
        #expect(text.output.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(text)")
        let none = try await devices.run("segments", "sample", "tag:x", "--app", "demo")
        #expect(none.status == 1 && none.output == "the segment has no devices\n", "\(none)")
    }
}
