import Foundation
import Testing

@testable import pushfarm

struct SimulatorProcessTests {
    @Test func `the simulator prints its addresses, serves its control socket and stops`() throws {
        let folder = try StateFolder.temporary()
        defer { StateFolder.remove(folder) }
        let simulator = try ProgramRun(["simulator", "--json", "--port", "0", "--state-dir", folder])
        let line = simulator.nextLine()
        let started = try #require(SimulatorStarted(line: line))
        #expect(started.gateway.hasPrefix("https://127.0.0.1:"))
        #expect(started.binary == nil && started.feedback == nil)
        #expect(FileManager.default.fileExists(atPath: started.keyFile))
        #expect(started.json.description + "\n" == line)

        let counters = try ProgramRun.run(["simulator", "control", "--state-dir", folder, "counters"])
        #expect(counters.status == 0)
        #expect(counters.output.contains("\"requests\":0"))
        #expect(
            try ProgramRun.run(["simulator", "control", "--state-dir", folder, "nonsense"]).status == 1)
        let socket = folder + "/simulator/control.sock"
        for words in [
            ["control", "--control", socket, "counters"], ["control", "counters", "--control", socket],
        ] {
            #expect(try ProgramRun.run(["simulator"] + words).status == 0, "\(words)")
        }
        #expect(try ProgramRun.run(["simulator", "control", "--state-dir", folder, "stop"]).status == 0)
        let end = simulator.wait()
        #expect(end.status == 0, "\(end)")
        #expect(
            try ProgramRun.run(["simulator", "control", "--state-dir", folder, "counters"]).status == 75)
    }

    @Test func `the simulator prints further ports and accepts faults for its addresses`() throws {
        let folder = try StateFolder.temporary()
        defer { StateFolder.remove(folder) }
        let simulator = try ProgramRun([
            "simulator", "--json", "--port", "0", "--binary-port", "0", "--feedback-port", "0", "--state-dir",
            folder, "--listen", "127.0.0.1", "--listen", "127.0.0.2", "--fault",
            "binary close 3 at=127.0.0.2",
        ])
        let started = try #require(SimulatorStarted(line: simulator.nextLine()))
        #expect(started.binary?.hasPrefix("tls://127.0.0.1:") == true)
        #expect(started.feedback?.hasPrefix("tls://127.0.0.1:") == true)
        #expect(FileManager.default.fileExists(atPath: started.certificateFile))
        let faults = try ProgramRun.run(["simulator", "control", "--state-dir", folder, "faults"])
        #expect(faults.output.contains(#""at":{"127.0.0.2":{"close":{"every":3"#), "\(faults)")
        let counters = try ProgramRun.run(["simulator", "control", "--state-dir", folder, "counters"])
        #expect(counters.output.contains(#""binary":{"frames":0"#), "\(counters)")
        #expect(try ProgramRun.run(["simulator", "control", "--state-dir", folder, "stop"]).status == 0)
        #expect(simulator.wait().status == 0)
    }
}
