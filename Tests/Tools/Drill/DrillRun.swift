import BenchKit
import FarmHarness
import Foundation

/// `farm-drill [rate=20000] [only=WORD]` runs every operator command, sends signals and kills a host while the farm
/// delivers `rate` pushes a second. The drill counts the pushes in the gateway's ledger.
///
/// `farm-drill idle=HOSTS [shards=64]` measures the load of idle hosts on Redis.
@main
enum DrillRun {
    static func main() async throws {
        signal(SIGPIPE, SIG_IGN)
        let words = Words(CommandLine.arguments.dropFirst())
        if let hosts = words.number("idle") {
            say(try await IdleHosts.run(hosts: Int(hosts), shards: Int(words.number("shards") ?? 64)))
            return
        }
        let rate = words.number("rate").map { Int($0) } ?? 20_000
        let steps = DrillStep.all.filter { step in words["only"].map { step.name.contains($0) } ?? true }
        let farm = try await DrillFarm()
        let load = DrillLoad(socket: farm.redis.socket, rate: rate)
        let pushing = Task { try await load.run() }
        let count = try DrillCount(farm.gateway.ledgerFile)
        var rows = [["while", "took", "pushes", "lost", "duplicates", "counted", "longest gap"]]
        var isGood = true
        var held: [String] = []
        // In three seconds the governor opens enough connections for the load.
        try await Task.sleep(for: .seconds(3))
        var (number, jobs) = (await load.next, await load.jobs.count)
        try await settle(farm, await Array(load.jobs[..<jobs]))
        _ = try count.step(0..<number)
        for step in steps {
            let start = ContinuousClock.now
            var failure: String?
            do { try await step.act(farm) } catch { failure = "\(error)" }
            let took = ContinuousClock.now - start
            // Some effects of a step show only a second later.
            try await Task.sleep(for: .seconds(1))
            let (end, all) = (await load.next, await load.jobs)
            if step.holds, failure == nil {
                held.append(step.name)
                continue
            }
            let counted = try await settle(farm, Array(all[jobs...]))
            let result = try count.step(number..<end)
            (number, jobs) = (end, all.count)
            if let extra = step.extra, failure == nil {
                failure = try await check(extra, farm, count)
            }
            let isFine =
                failure == nil && result.lost == 0
                && (step.mayDuplicate ? result.duplicates <= counted : result.duplicates == 0 && counted == 0)
            isGood = isGood && isFine
            rows.append([
                (held + [step.name]).joined(separator: ", ") + (isFine ? "" : "  WRONG"),
                String(format: "%.2f s", took / .seconds(1)),
                "\(result.pushes)", "\(result.lost)", "\(result.duplicates)", "\(counted)",
                String(format: "%.0f ms", result.gap),
            ])
            held = []
            say(rows[rows.count - 1].joined(separator: "  "))
            if let failure { say("  \(failure)") }
        }
        await load.stop()
        try await pushing.value
        say("\n" + TextTable(rows).lines.joined(separator: "\n"))
        if !isGood { say(String(farm.logs.suffix(4_000))) }
        exit(isGood ? 0 : 1)
    }

    /// Checks that the gateway accepted as many pushes of a step's extra job as the job record counts as delivered. All
    /// other pushes of the job must count as cancelled.
    /// - Returns: the complaints.
    private static func check(
        _ extra: DrillStep.Extra, _ farm: DrillFarm, _ count: DrillCount
    ) async throws -> String? {
        let (id, numbers) = ("extra-\(extra.number)", DrillFarm.extra(extra.number))
        _ = try await farm.finished([id])
        let result = try count.step(numbers)
        let (delivered, cancelled) = (
            try farm.number(of: id, "delivered"), try farm.number(of: id, "cancelled")
        )
        let reached = numbers.count - result.lost
        let text =
            "\(id): \(numbers.count) pushes, \(reached) at the gateway, \(delivered) delivered, "
            + "\(cancelled) cancelled, \(result.duplicates) duplicates"
        say("  " + text)
        let isExact =
            reached == delivered && delivered + cancelled == numbers.count && result.duplicates == 0
            && (cancelled > 0) == extra.isCalledBack
        return isExact ? nil : text
    }

    /// Prints a line at once.
    private static func say(_ line: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }

    @discardableResult
    private static func settle(_ farm: DrillFarm, _ jobs: [String]) async throws -> Int {
        try await farm.finished(jobs)
    }
}
