import FarmConfiguration
import FarmHarness
import Foundation
import Testing

@testable import pushfarm

struct RedisExposureCheckTests {
    private func finding(_ address: String) throws -> Finding {
        let farm = try Configuration.read("redis: \(address)\n", file: "/etc/pushfarm.yaml")
        return RedisExposureCheck(location: try #require(farm.redis)).finding
    }

    @Test(
        arguments: [
            ("redis://127.0.0.1:6379/0", "every client that reaches it"),
            ("rediss://queue.example", "every client that reaches it"),
            ("redis://:secret@127.0.0.1", nil), ("rediss://farm:secret@queue.example:6380/0", nil),
            ("unix://:secret@/run/none.sock", nil), ("unix:///run/none.sock", nil),
        ] as [(String, String?)])
    func `a Redis without a password is reported`(address: String, who: String?) throws {
        let finding = try finding(address)
        #expect(finding.grade == (who == nil ? .ok : .warning) && !finding.text.contains("secret"))
        if let who { #expect(finding.text.hasSuffix("asks for no password: \(who) controls the farm")) }
    }

    @Test(arguments: [
        (0o777, 0o755, true), (0o777, 0o700, false), (0o770, 0o755, false), (0o700, 0o777, false),
    ])
    func `a socket is open when every user can reach and open it`(
        socket: Int, folder mode: Int, isOpen: Bool
    ) throws {
        let folder = try TestFolder()
        let path = try folder.write("", to: "redis.sock")
        for (mode, path) in [(socket, path), (mode, folder.path)] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        }
        let finding = try finding("unix://" + path)
        #expect(finding.grade == (isOpen ? .warning : .ok))
        #expect(finding.text.contains("every user of this machine controls the farm") == isOpen)
    }
}
