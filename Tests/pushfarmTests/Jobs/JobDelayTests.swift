import FarmConfiguration
import Foundation
import Testing

@testable import pushfarm

struct JobDelayTests {
    private static let now: Int64 = 1_780_000_000_000

    @Test(
        arguments: [
            (JobDelay(due: now + 82_800_000, attempts: 0, maxAttempts: 8, cause: ""), "due in 23 h 0 min"),
            (JobDelay(due: now - 5, attempts: 0, maxAttempts: 8, cause: ""), "due now"),
            (
                JobDelay(due: now + 40_000, attempts: 2, maxAttempts: 8, cause: "ServiceUnavailable"),
                "retry 3 of 8 in 40 s: ServiceUnavailable"
            ),
            (JobDelay(due: now + 500, attempts: 8, maxAttempts: 8, cause: ""), "retry 8 of 8 in 500 ms"),
            (
                JobDelay(due: now + 9_000, attempts: 0, maxAttempts: 3, cause: "TooManyRequests"),
                "retry 1 of 3 in 9.0 s: TooManyRequests"
            ),
        ])
    func `a delay shows its end and its reason`(delay: JobDelay, text: String) {
        #expect(delay.text(at: Self.now) == text)
    }
}

struct LocalFarmDirectionsTests {
    @Test(arguments: [
        (["/usr/bin/pushfarm", "up", "--simulate"], "/home/a/var"),
        (["pushfarm", "up", "--state-dir", "/srv/x"], "/srv/x"),
        (["pushfarm", "up", "--state-dir=y"], "/home/a/y"),
        (["pushfarm", "status"], nil), (["pushfarm"], nil), ([], nil), (["vi", "up"], nil),
        (["pushfarm", "up", "--state-dir"], "/home/a/var"),
    ])
    func `a process of a farm in one terminal shows its folder`(words: [String], folder: String?) {
        #expect(RunningFarms.stateFolder(of: words, home: "/home/a") == folder)
    }

    @Test func `a configured Redis and app are found and shells can read the lines`() throws {
        let folder = NSTemporaryDirectory() + "it's here \(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data("secret".utf8).write(to: URL(fileURLWithPath: folder + "/redis.password"))
        let quoted = "'" + folder.replacing("'", with: #"'\''"#)
        let directions = LocalFarmDirections(
            configuration: .init(host: "here", stateDirectory: folder),
            simulation: SimulatorStarted(
                gateway: "https://127.0.0.1:5", binary: nil, feedback: nil, caFile: "/x/ca.pem",
                keyFile: "/x/k.p8", keyID: "ABC123DEFG", team: "DEF123GHIJ", certificateFile: "/x/c.pem",
                bundle: "com.example.demo", control: "/x/c.sock"), redisPort: 4711)
        let read = try Configuration.read(directions.text, file: "/x/up.yaml")
        #expect(read.apps.map(\.name) == ["demo"] && read.apps[0].topic == "com.example.demo")
        #expect(read.stateDirectory == folder)
        #expect(directions.push.contains("--state-dir \(quoted)'"))
        #expect(
            directions.redisCommand?.contains(
                "$(cat \(quoted)/redis.password') redis-cli -p 4711 ") == true)
    }
}
