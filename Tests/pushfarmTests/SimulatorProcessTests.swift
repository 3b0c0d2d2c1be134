import Foundation
import Testing

@testable import pushfarm

struct SimulatorProcessTests {
    @Test func `it says where it listens, answers its control socket, and stops`() throws {
        let folder = try StateFolder.temporary()
        defer { StateFolder.remove(folder) }
        let simulator = try BuiltProgram(["simulator", "--json", "--port", "0", "--state-dir", folder])
        let line = simulator.nextLine()
        let started = try #require(SimulatorStarted(line: line))
        #expect(started.gateway.hasPrefix("https://127.0.0.1:"))
        #expect(FileManager.default.fileExists(atPath: started.keyFile))
        #expect(started.json.description + "\n" == line)

        let counters = try BuiltProgram.run(["simulator", "control", "--state-dir", folder, "counters"])
        #expect(counters.status == 0)
        #expect(counters.output.contains("\"requests\":0"))
        #expect(
            try BuiltProgram.run(["simulator", "control", "--state-dir", folder, "nonsense"]).status == 1)
        #expect(try BuiltProgram.run(["simulator", "control", "--state-dir", folder, "stop"]).status == 0)
        let end = simulator.wait()
        #expect(end.status == 0, "\(end)")
        #expect(
            try BuiltProgram.run(["simulator", "control", "--state-dir", folder, "counters"]).status == 75)
    }
}
