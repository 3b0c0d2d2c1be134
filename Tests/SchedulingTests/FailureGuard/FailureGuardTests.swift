import RandomTesting
import Scheduling
import Testing

struct FailureGuardTests {
    /// The reports as delivered and failed pushes, and whether the guard stops the campaign after each of them.
    private static let known: [([(Int, Int)], [Bool])] = [
        // Fewer than 100 results.
        ([(0, 99)], [false]),
        ([(0, 100)], [true]),
        // Exactly the share does not stop a campaign.
        ([(80, 20)], [false]),
        ([(79, 21)], [true]),
        // Old results leave.
        ([(1000, 0), (0, 200), (0, 50)], [false, false, true]),
        ([(0, 1000), (799, 0), (1, 0)], [true, true, false]),
        // Only the last results of a long report count.
        ([(0, 1000), (1_000_000, 0)], [true, false]),
        ([(79_000, 21_000)], [true]),
        ([(81_000, 19_000)], [false]),
        ([(-5, -5), (0, 0)], [false, false]),
        ([(.max, .max)], [true]),
    ]

    @Test(arguments: known) func `stops a campaign whose last pushes failed`(
        reports: [(Int, Int)], stops: [Bool]
    ) throws {
        var failures = try FailureGuard()
        let found = reports.map { delivered, failed in
            failures.add(delivered: delivered, failed: failed)
            return failures.stops
        }
        #expect(found == stops)
    }

    @Test func `the reason has the numbers, and a reset forgets them`() throws {
        var failures = try FailureGuard(share: 0.3)
        failures.add(delivered: 600, failed: 400)
        #expect(failures.stops && failures.reason == "400 of the last 1,000 pushes failed")
        failures.reset()
        #expect(!failures.stops && failures.results == 0)
    }

    @Test func `counts of a job record add what is new, also after a takeover`() throws {
        var failures = try FailureGuard()
        failures.observe(delivered: 90, failed: 5)
        failures.observe(delivered: 100, failed: 10)
        #expect(failures.results == 110 && failures.failed == 10)
        var next = try FailureGuard(text: failures.text)
        next.observe(delivered: 100, failed: 10)
        #expect(next == failures)
        // A repair made a count lower.
        next.observe(delivered: 80, failed: 12)
        #expect(next.results == 112 && next.failed == 12)
        next.reset()
        next.observe(delivered: 81, failed: 12)
        #expect(next.results == 1 && next.failed == 0)
        next.observe(delivered: .max, failed: -7)
        #expect(!next.stops)
    }

    @Test func `with a share of 100 %, a campaign never stops`() throws {
        var failures = try FailureGuard(share: 1)
        failures.add(delivered: 0, failed: 1000)
        #expect(!failures.stops)
    }

    @Test func `the window has the last 1,000 to 1,049 results, and text keeps it`() throws {
        var random = SplitMix(seed: 2)
        var failures = try FailureGuard()
        var all: [Bool] = []
        for _ in 0..<400 {
            let (delivered, failed) = (random.int(in: 0...40), random.int(in: 0...3))
            failures.add(delivered: delivered, failed: failed)
            all += [Bool](repeating: false, count: delivered) + [Bool](repeating: true, count: failed)
            try BrokenInvariant.unless(
                failures.results == all.count || (1000...1049).contains(failures.results),
                "\(failures.results) of \(all.count)")
            // Failures of a report that is divided between two groups may be in the other group.
            let exact = all.suffix(failures.results).filter { $0 }.count
            try BrokenInvariant.unless(abs(failures.failed - exact) <= 3, "\(failures.failed), not \(exact)")
            try BrokenInvariant.unless(
                try FailureGuard(text: failures.text) == failures && failures.text.utf8.count <= 256,
                failures.text)
        }
    }

    @Test(arguments: [
        "", "50", "1/2 50", "50:3", "1/2 50:51", "1/2 51:0", "1/2 0:0", "1/2 1:0 50:0", "1/2 a:b",
        "1/2 50:-1",
        "-1/2", "1/2/3", "1/2 50:0:0", "9999999999999999999/0", "1/2" + String(repeating: " 50:0", count: 22),
        String(repeating: " ", count: 300),
    ]) func `a text of another form counts as no results`(text: String) throws {
        #expect(try FailureGuard(text: text) == FailureGuard())
    }

    @Test func `wrong settings are refused`() {
        for (share, least) in [(1.01, 100), (-0.1, 100), (.nan, 100), (0.2, 0), (0.2, 1001)] {
            #expect(throws: ScheduleError.self) { try FailureGuard(share: share, least: least) }
        }
    }
}
