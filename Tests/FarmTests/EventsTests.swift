import FarmHarness
import Foundation
import Testing

/// The output of `pushfarm events`.
@Suite(.startsProcesses) struct EventsTests {
    private func lines(_ text: String) throws -> [[String: Any]] {
        try text.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    @Test func `events filters by type and time, and follows the stream across an outage of Redis`()
        async throws
    {
        let farm = try await Farm()
        try farm.push([Job(id: "first", tokens: Tokens.make(3), fields: #""receipts":"all""#)])
        _ = try await farm.finished("first")
        let all = try lines(try await farm.run("events", "--since", "1h", "--json").output)
        #expect(
            all.map { $0["type"] as? String }.count == 5 && all[0]["type"] as? String == "job.accepted")
        let some = try lines(
            try await farm.run("events", "--type", "job.", "--limit", "1", "--json").output)
        #expect(some.count == 1 && some[0]["type"] as? String == "job.finished")
        #expect(
            try await farm.run("events", "--since", "1h", "--type", "app.paused").output == "no events\n")
        #expect(try await farm.run("events", "--since", "yesterday").status == 2)
        for (mistaken, says) in [
            ("app.pasued", "did you mean app.paused?"), ("jobs.", "there are admission.closed, "),
            ("", "there are admission.closed, "),
        ] {
            let result = try await farm.run("events", "--type", mistaken)
            #expect(result.status == 2 && result.error.contains(says), "\(result)")
        }
        #expect(try await farm.run("events", "--operations", "--type", "scale").status == 0)

        let follower = try Child(
            "follower", BuiltProgram.path,
            ["events", "--follow", "--json", "--type", "job.finished", "--config"]
                + [farm.folder.path + "/pushfarm.yaml"], in: farm.folder.path)
        // The command shows only events that happen after its start. After the command has shown an event, it follows the stream
        // for certain.
        var number = 0
        try await eventually("it follows") {
            number += 1
            try farm.push([Job(id: "more-\(number)", tokens: Tokens.make(1))])
            return follower.output.contains("more-")
        }
        #expect(!follower.output.contains(#""first""#))
        try await farm.redis.crash()
        try await eventually("a job after Redis was away is seen") {
            number += 1
            try? farm.push([Job(id: "again-\(number)", tokens: Tokens.make(1))])
            return follower.output.contains("again-")
        }
        follower.signal(SIGINT)
        guard case .exited(0) = try await follower.wait(within: .seconds(20)) else {
            Issue.record("\(follower.error)")
            return
        }
    }
}
