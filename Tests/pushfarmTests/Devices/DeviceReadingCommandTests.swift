import FarmHarness
import Foundation
import PushModel
import Registry
import RegistryTesting
import Testing

/// `pushfarm devices show` and `export`, on a private Redis.
@Suite(.timeLimit(.minutes(5))) struct DeviceReadingCommandTests {
    private static let records: [DeviceRecord] = (0..<300).map { number in
        .made(
            number, user: number.isMultiple(of: 3) ? nil : "u-\(number % 50)", tags: ["t\(number % 7)"],
            details: [.zone: "Europe/Berlin", .model: "iPhone17,1"],
            addresses: number.isMultiple(of: 100) ? 2 : 1)
    }

    private func ids(_ document: [String: Any]) throws -> [String] {
        try #require(document["devices"] as? [[String: Any]]).compactMap { $0["id"] as? String }.sorted()
    }

    @Test func `show finds a device by id, user and token`() async throws {
        let devices = try StoredDevices(Self.records)
        let one = try await devices.document("devices", "show", "d-7", "--app", "demo")
        #expect(try ids(one) == ["d-7"])
        let user = try await devices.document("devices", "show", "--user", "u-7", "--app", "demo")
        #expect(try ids(user) == Self.records.filter { $0.user == "u-7" }.map(\.id).sorted())
        for index in 0...1 {
            let token = Hexadecimal.text(of: DeviceAddress.made(100, index).bytes)
            let found = try await devices.document("devices", "show", "--token", token, "--app", "demo")
            #expect(try ids(found) == ["d-100"])
        }
        let text = try await devices.run("devices", "show", "d-7", "--app", "demo")
        for word in ["d-7", "u-7", Hexadecimal.text(of: DeviceAddress.made(7).bytes), "t0", "2024-10-04"] {
            #expect(text.output.contains(word), "\(text)")
        }
        let none = try await devices.run("devices", "show", "d-300", "--app", "demo")
        #expect(none.status == 1 && none.output == "demo has no such device\n", "\(none)")
        let two = try await devices.run("devices", "show", "d-7", "--user", "u-7", "--app", "demo")
        #expect(two.status == 2, "\(two)")
    }

    @Test func `export writes each device once, and the file appears when it is complete`() async throws {
        let devices = try StoredDevices(Self.records)
        let folder = try TestFolder()
        let file = folder.path + "/devices.ndjson"
        let done = try await devices.document("devices", "export", file, "--app", "demo")
        #expect(done["exported"] as? Int == 300 && done["unreadable"] as? Int == 0)
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        let found = try lines.map { line in
            try #require(
                try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])["id"] as? String
        }
        #expect(Set(found) == Set(Self.records.map(\.id)) && found.count == 300)
        #expect(!FileManager.default.fileExists(atPath: file + ".part"))
        let stream = try await devices.run("devices", "export", "-", "--format", "ndjson", "--app", "demo")
        #expect(stream.status == 0 && stream.output.split(separator: "\n").sorted() == lines.sorted())

        // CSV cannot express devices with several tokens, so the command fails and leaves no file.
        let csv = try await devices.run("devices", "export", folder.path + "/d.csv", "--app", "demo")
        #expect(csv.status == 1 && csv.error.contains("use --format ndjson"), "\(csv)")
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/d.csv"))
        let unknown = try await devices.run("devices", "export", folder.path + "/d.txt", "--app", "demo")
        #expect(unknown.status == 2, "\(unknown)")
    }

    @Test func `an unreadable record does not stop an export`() async throws {
        let devices = try StoredDevices([.made(1), .made(2)])
        let key = try #require(
            try devices.redis.run("KEYS", "{pushfarm:demo:r*:dev:0").array?.first?.text)
        try devices.redis.run("HSET", key, "9", "?")
        let result = try await devices.run("devices", "export", "-", "--format", "csv", "--app", "demo")
        #expect(result.status == 3 && result.error.contains("1 record cannot be read"), "\(result)")
        #expect(result.output.split(separator: "\n").count == 3, "\(result)")
    }
}
