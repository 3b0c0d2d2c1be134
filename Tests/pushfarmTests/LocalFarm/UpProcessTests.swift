import FarmHarness
import Foundation
import Testing

@testable import pushfarm

/// Runs the commands on a whole farm with a private Redis and a simulated gateway.
struct UpProcessTests {
    @Test func `up without a configuration names the missing file`() async throws {
        let up = try await ProgramRun.run(["up"])
        #expect(up.status == 2 && up.output.isEmpty, "\(up)")
        #expect(up.error.contains("there is no /") && up.error.contains("/pushfarm.yaml"), "\(up)")
        #expect(up.error.contains("pushfarm up --simulate"), "\(up)")
    }

    private let good = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"
    private let bad = "bad00000ff785122b4ad28809a3420982341241421348097878e577c991de8f0"

    @Test(.timeLimit(.minutes(2))) func `up serves all commands and leaves no process running`() async throws
    {
        let folder = try TestFolder()
        let up = try ProgramRun([
            "up", "--simulate", "--json", "--state-dir", folder.path, "--log-level", "error",
        ])
        let line = try await up.firstLine()
        #expect(line.hasPrefix(#"{"state":"running","apps":["demo"],"workers":2,"#), "\(line)")

        func farm(_ arguments: [String]) async throws -> ProgramRun.Result {
            try await ProgramRun.run(arguments + ["--state-dir", folder.path, "--json"])
        }
        let push = ["push", "--app", "demo", "--alert", "Hi", "--wait", "--token"]
        let delivered = try await farm(push + [good, "--id", "one"])
        #expect(delivered.status == 0, "\(delivered)")
        #expect(delivered.output.contains(#""id":"one","app":"demo","state":"finished""#), "\(delivered)")
        #expect(delivered.output.contains(#""delivered":1,"failed":0"#), "\(delivered)")

        for typo in [["zz"], [good, "zz"]] {
            let wrong = try await farm(push + typo)
            #expect(
                wrong.status == 2 && wrong.error.contains("zz: a token may hold hex digits only"), "\(wrong)")
        }
        let list = folder.path + "/tokens.txt"
        try StateFolder.write([good, bad, "zz", good].joined(separator: "\n"), to: list)
        let mixed = try await farm(push.dropLast() + ["--tokens-file", list, "--id", "two"])
        #expect(mixed.error.contains("1 push is malformed and not sent; the first: zz: "), "\(mixed)")
        #expect(mixed.status == 1, "\(mixed)")
        #expect(
            mixed.output.contains(#""submitted":4,"accepted":2,"malformed":1,"duplicates":1"#), "\(mixed)")
        #expect(mixed.output.contains(#""reasons":{"BadDeviceToken":1}"#), "\(mixed)")

        let again = try await farm(push + [good, "--id", "one"])
        #expect(try await farm(["job", "one"]).output == delivered.output, "\(again)")
        #expect(try await farm(["job", "nobody"]).status == 1)
        #expect(try await farm(["jobs"]).output.contains(#""id":"two""#))
        let status = try await farm(["status"])
        #expect(status.status == 0, "\(status)")
        #expect(status.output.contains(#""app":"demo","state":"running","paused_reason":null"#), "\(status)")
        #expect(try await farm(["resume", "demo"]).output.hasPrefix(#"{"app":"demo","resumed":false,"#))
        #expect(try await farm(["resume", "nobody"]).status == 2)
        let second = try await ProgramRun.run(["up", "--simulate", "--state-dir", folder.path])
        #expect(second.status == 1 && second.output.isEmpty, "\(second)")
        #expect(second.error.hasPrefix("pushfarm: another farm runs in "), "\(second)")

        up.signal(SIGTERM)
        let end = try await up.wait()
        #expect(end.status == 0, "\(end)")
        #expect(try await farm(["status", "--redis", "unix://\(folder.path)/redis.sock"]).status == 75)
    }
}
