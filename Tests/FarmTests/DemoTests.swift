import FarmHarness
import Foundation
import Testing

extension BusyFarms {
    struct DemoTests {
        @Test func `the demo adds up with a worker killed, and leaves nothing behind`() async throws {
            let folder = try TestFolder()
            let child = try Child(
                "demo", BuiltProgram.path,
                [
                    "demo", "--pushes", "2000", "--bad", "20", "--kill", "1", "--json", "--set",
                    "apps.demo.max_rate=100",
                ],
                // What is set for other farms does not reach it.
                environment: [
                    "TMPDIR": folder.path, "PUSHFARM_REDIS": "redis://127.0.0.1:1", "PUSHFARM_WORKRS": "x",
                ], in: folder.path)
            let wasTold = try await eventually("the demo's coordinator, or the end") {
                let wasTold = ProcessTable.naming(folder: folder.path).contains {
                    ProcessTable.isAbout("coordinator", $0)
                        && ProcessTable.visibleText(of: $0).contains("\0--set\0apps.demo.max_rate=100\0")
                }
                return wasTold || child.hasEnded ? wasTold : nil
            }
            #expect(wasTold, "the coordinator hears what the app is to have")
            #expect(try await child.wait(within: .seconds(100)) == .exited(0), "\(child.error)")
            let account = try #require(
                try JSONSerialization.jsonObject(with: Data(child.output.utf8)) as? [String: Any],
                "\(child.output)")
            #expect(account["delivered"] as? Int == 1980 && account["failed"] as? Int == 20)
            #expect(account["workers_killed"] as? Int == 1)
            #expect(ProcessTable.naming(folder: folder.path).isEmpty)
        }

        @Test func `up runs a farm until it is told to end`() async throws {
            let folder = try TestFolder()
            let up = try Child(
                "up", BuiltProgram.path, ["up", "--simulate", "--json", "--state-dir", folder.path + "/var"],
                in: folder.path)
            try await eventually("up has started") { up.hasEnded || up.output.contains("\"running\"") }
            let push = try Child(
                "push", BuiltProgram.path,
                [
                    "push", "--app", "demo", "--alert", "Hi", "--wait", "--state-dir", folder.path + "/var",
                    "--tokens-file", try folder.write(Tokens.make(50).joined(separator: "\n"), to: "t.txt"),
                ], in: folder.path)
            #expect(try await push.wait() == .exited(0), "\(push.error)")
            let stray = try Child(
                "stray", BuiltProgram.path,
                [
                    "push", "--app", "demi", "--alert", "Hi", "--token", Tokens.make(1)[0], "--state-dir",
                    folder.path + "/var",
                ], in: folder.path)
            #expect(
                try await stray.wait() == .exited(2) && stray.error.contains("it has demo"), "\(stray.error)")
            // With the old coordinator `up` would end, and Redis with it.
            let upgrade = try Child(
                "upgrade", BuiltProgram.path, ["upgrade", "all", "--state-dir", folder.path + "/var"],
                in: folder.path)
            #expect(try await upgrade.wait() == .exited(1) && !up.hasEnded, "\(upgrade.output)")
            up.signal(SIGTERM)
            #expect(try await up.wait() == .exited(0), "\(up.error)")
            #expect(ProcessTable.naming(folder: folder.path).isEmpty)
        }
    }
}
