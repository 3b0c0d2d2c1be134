import FarmHarness
import Foundation
import Testing

/// The coordinator's log contains the error message of a trapped process.
@Suite(.startsProcesses(limit: .seconds(300))) struct CrashReportTests {
    @Test(arguments: [("worker", "batch.read"), ("intake", "intake.parse")])
    func `the coordinator's log names a trapped child, the signal and the reason`(
        role: String, point: String
    ) async throws {
        let marks = try TestFolder()
        let farm = try await Farm(
            Farm.Options(
                environment: Farm.failpoints(["\(point):crash:1:1:1"], marks: marks)))
        let tokens = Tokens.make(3)
        let job = Job(id: "w", tokens: tokens)
        try farm.push([job])
        #expect(try await farm.finished([job]).delivered == tokens.count)
        let end = try await eventually("the log tells of the end") {
            farm.coordinator.error.split(separator: "\n").first {
                $0.contains("\(role) ended") && $0.contains("last error")
            }
        }
        #expect(end.contains("Fatal error: failpoint \(point)"), "\(end)")
        #expect(end.contains("SIGILL") || end.contains("SIGTRAP"), "\(end)")
        // The children write their log lines to the coordinator's log.
        #expect(farm.coordinator.error.contains("\(role) wrote to standard error"))
        #expect(!farm.coordinator.hasEnded)
    }

    @Test func `a coordinator's fatal error is in its log file`() async throws {
        let marks = try TestFolder()
        let farm = try await Farm(
            Farm.Options(
                environment: Farm.failpoints(["redis.settle.after:crash:1:1:1"], marks: marks),
                lines: ["log: {file: FOLDER/farm.log}"]))
        try farm.push([Job(id: "w", tokens: Tokens.make(3))])
        guard case .killed(let signal) = try await farm.coordinator.wait() else {
            Issue.record("the coordinator has not trapped: \(farm.coordinator.error)")
            return
        }
        #expect([SIGILL, SIGTRAP].contains(signal))
        let log = try String(contentsOfFile: farm.folder.path + "/farm.log", encoding: .utf8)
        #expect(log.contains("Fatal error: failpoint redis.settle.after"), "\(log.suffix(2000))")
        // The children also log to this file. Soon after the trap, they log that their coordinator has ended.
        try await eventually("children log there, too") {
            try String(contentsOfFile: farm.folder.path + "/farm.log", encoding: .utf8).contains(
                "worker-0")
        }
    }
}
