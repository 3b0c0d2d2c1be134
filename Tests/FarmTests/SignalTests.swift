import FarmHarness
import Foundation
import Testing

/// Tests the signals of docs/signals.md under load.
///
/// A coordinator that has a terminal does not handle TTIN, TTOU, TSTP and WINCH, because the terminal itself can send these
/// signals. So these tests run only without a terminal.
@Suite(
    .startsProcesses(limit: .seconds(240)),
    .enabled(if: access("/dev/tty", R_OK) != 0 || open("/dev/tty", O_RDWR) < 0))
struct SignalTests {
    private static let pace = ["latency 30ms", "streams 50"]

    @Test func `a coordinator handles its signals`() async throws {
        let farm = try await Farm(hosts: Farm.twoHosts, Farm.Options(faults: Self.pace))
        try await farm.startAll()
        let load = try Load(farm)
        try await load.more(1)
        let alpha = farm.coordinator("alpha")
        let beta = farm.coordinator("beta")
        func workers(_ host: String) async throws -> Int {
            try await farm.line(host).workers.count { $0.state == "ready" }
        }
        alpha.signal(SIGTTIN)
        try await eventually("a worker more") { try await workers("alpha") == 3 }
        alpha.signal(SIGTTOU)
        try await eventually("a worker less") { try await farm.line("alpha").workers.count == 2 }
        // SIGCONT has no effect on a host that is not quiet.
        beta.signal(SIGCONT)
        beta.signal(SIGWINCH)
        try await farm.shared(by: ["alpha"], within: .seconds(30))
        beta.signal(SIGCONT)
        try await load.more(1)
        #expect(try await farm.line("beta").state == "drained")
        beta.signal(SIGHUP)
        try await farm.shared(by: ["alpha", "beta"])
        try await load.more(1)
        beta.signal(SIGTSTP)
        try await eventually("it is quiet") { try await farm.line("beta").state == "quiet" }
        beta.signal(SIGCONT)
        beta.signal(SIGTERM)
        #expect(try await beta.wait(within: .seconds(30)) == .exited(0))
        try await farm.shared(by: ["alpha"], within: .seconds(10))
        try await load.more(1)
        alpha.signal(SIGUSR2)
        #expect(try await alpha.wait(within: .seconds(60)) == .exited(0))
        try await load.more(1)
        try await load.expectExactlyOnce()
    }

    @Test
    func `a fast stop waits two seconds for responses, and other pushes are sent again`()
        async throws
    {
        let farm = try await Farm(hosts: ["alpha"], Farm.Options(faults: ["latency 15s"]))
        try farm.start("alpha")
        try await farm.shared(by: ["alpha"], within: .seconds(20))
        let jobs = [Job(id: "slow", tokens: Tokens.make(100))]
        try farm.push(jobs)
        try await farm.gateway.requests(100)
        let start = ContinuousClock.now
        farm.coordinator("alpha").signal(SIGQUIT)
        #expect(try await farm.coordinator("alpha").wait(within: .seconds(30)) == .exited(0))
        // The stop takes far less time than the responses (15 s) or a graceful stop (20 s).
        #expect(ContinuousClock.now - start < .seconds(12))
        _ = try farm.gateway.control("latency 0ms")
        try farm.start("alpha")
        let totals = try await farm.finished(jobs)
        // A few responses may arrive before the stop.
        // The pushes in flight at the stop count as possibly duplicated and were sent again.
        #expect(totals.delivered == 100 && totals.maybeDuplicated > 50, "\(totals)")
        #expect(try farm.gateway.requestCount() == 100 + totals.maybeDuplicated)
    }

    @Test func `a worker handles its signals and reopens its log`() async throws {
        let farm = try await Farm(hosts: ["alpha"], Farm.Options(faults: Self.pace))
        let file = farm.folder.path + "/alpha/farm.log"
        try farm.start("alpha", logFile: file)
        try await farm.shared(by: ["alpha"], within: .seconds(20))
        let load = try Load(farm)
        try await load.more(1)
        func log(_ name: String = "") -> String {
            (try? String(contentsOfFile: file + name, encoding: .utf8)) ?? ""
        }
        let before = try await farm.workers("alpha")
        farm.signal(child: before[0], of: "alpha", SIGUSR2)
        try await eventually("the worker tells of itself") {
            log().split(separator: "\n").contains { $0.contains("worker-0") && $0.contains("dump app=") }
        }
        try FileManager.default.moveItem(atPath: file, toPath: file + ".1")
        farm.coordinator("alpha").signal(SIGUSR1)
        try await eventually("the log is opened again") { log().contains("log files reopened") }
        farm.signal(child: before[1], of: "alpha", SIGUSR2)
        try await eventually("the worker's, too") {
            log().split(separator: "\n").contains { $0.contains("worker-1") && $0.contains("dump app=") }
        }
        #expect(!log(".1").contains("log files reopened"))
        for (number, signal) in [SIGTERM, SIGQUIT].enumerated() {
            farm.signal(child: before[number], of: "alpha", signal)
            try await eventually("another process is ready") {
                let now = try await farm.line("alpha").workers
                return now[number].pid != before[number] && now[number].state == "ready"
            }
        }
        for signal in [SIGHUP, SIGTTIN, SIGCONT] {
            farm.signal(child: try await farm.workers("alpha")[0], of: "alpha", signal)
        }
        // After SIGTSTP the worker is quiet and serves no shards.
        // When an operator resumes the worker, a new process replaces the quiet process.
        farm.signal(child: try await farm.workers("alpha")[0], of: "alpha", SIGTSTP)
        try await eventually("status shows a quiet worker") {
            try await farm.line("alpha").workers[0].state == "quiet"
        }
        #expect(log().contains("quiet: taking no new work"))
        // The other worker serves the quiet worker's shards.
        try await eventually("the other worker has the shards") {
            try await farm.line("alpha").workers.map(\.shards) == [0, 64]
        }
        try await load.more(1)
        let vain = try await farm.operate("resume", "alpha/0", status: 1)
        #expect(vain.hosts[0].text.contains("restart alpha/0"), "\(vain)")
        try await farm.operate("restart", "alpha/0")
        try await load.more(2)
        try await load.expectExactlyOnce()
    }
}
