import FarmHarness
import Foundation
import Testing

@testable import pushfarm

struct SimulatorProcessTests {
    @Test func `the simulator prints its addresses, serves its control socket and stops`() async throws {
        let folder = try TestFolder()
        let simulator = try ProgramRun(["simulator", "--json", "--port", "0", "--state-dir", folder.path])
        let line = try await simulator.firstLine()
        let started = try #require(SimulatorStarted(line: line))
        #expect(started.gateway.hasPrefix("https://127.0.0.1:"))
        #expect(started.binary == nil && started.feedback == nil)
        #expect(FileManager.default.fileExists(atPath: started.keyFile))
        #expect(started.json.description + "\n" == line)

        let counters = try await ProgramRun.run([
            "simulator", "control", "--state-dir", folder.path, "counters",
        ])
        #expect(counters.status == 0)
        #expect(counters.output.contains("\"requests\":0"))
        #expect(
            try await ProgramRun.run(["simulator", "control", "--state-dir", folder.path, "nonsense"]).status
                == 1)
        let socket = folder.path + "/simulator/control.sock"
        for words in [
            ["control", "--control", socket, "counters"], ["control", "counters", "--control", socket],
        ] {
            #expect(try await ProgramRun.run(["simulator"] + words).status == 0, "\(words)")
        }
        #expect(
            try await ProgramRun.run(["simulator", "control", "--state-dir", folder.path, "stop"]).status == 0
        )
        let end = try await simulator.wait()
        #expect(end.status == 0, "\(end)")
        #expect(
            try await ProgramRun.run(["simulator", "control", "--state-dir", folder.path, "counters"]).status
                == 75)
    }

    @Test func `the simulator prints further ports and accepts faults for its addresses`() async throws {
        let folder = try TestFolder()
        let simulator = try ProgramRun([
            "simulator", "--json", "--port", "0", "--binary-port", "0", "--feedback-port", "0", "--state-dir",
            folder.path, "--listen", "127.0.0.1", "--listen", "127.0.0.2", "--fault",
            "binary close 3 at=127.0.0.2",
        ])
        let started = try #require(SimulatorStarted(line: try await simulator.firstLine()))
        #expect(started.binary?.hasPrefix("tls://127.0.0.1:") == true)
        #expect(started.feedback?.hasPrefix("tls://127.0.0.1:") == true)
        #expect(FileManager.default.fileExists(atPath: started.certificateFile))
        let faults = try await ProgramRun.run(["simulator", "control", "--state-dir", folder.path, "faults"])
        #expect(faults.output.contains(#""at":{"127.0.0.2":{"close":{"every":3"#), "\(faults)")
        let counters = try await ProgramRun.run([
            "simulator", "control", "--state-dir", folder.path, "counters",
        ])
        #expect(counters.output.contains(#""binary":{"frames":0"#), "\(counters)")
        #expect(
            try await ProgramRun.run(["simulator", "control", "--state-dir", folder.path, "stop"]).status == 0
        )
        #expect(try await simulator.wait().status == 0)
    }
}
