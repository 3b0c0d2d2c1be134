import FarmBench
import Testing

/// Checks that the bench reads the output of other programs and of the kernel.
struct ReadingTests {
    @Test func `the output of h2load is parsed`() {
        let text = """
            finished in 7.88s, 76125.16 req/s, 3.20MB/s
            requests: 600000 total, 600000 started, 600000 done, 599990 succeeded, 10 failed, 0 errored, 0 timeout
            status codes: 599990 2xx, 0 3xx, 10 4xx, 0 5xx
            """
        let report = LoadReport(text)
        #expect(report?.rate == 76125.16 && report?.succeeded == 599_990)
        #expect(LoadReport("status codes: 1 2xx") == nil && LoadReport("") == nil)
    }

    @Test(arguments: [("0-3", [2, 3]), ("0", [0]), ("0-1,6", [1, 6]), ("4,8-9", [8, 9]), ("", [])])
    func `the last two cores are chosen`(list: String, cores: [Int]) {
        #expect(Cores.last(of: list) == cores)
    }

    @Test func `the share of others is the busy time of other processes`() {
        let before = CoreUse(of: [1, 2], in: Self.stat(worked: 0))
        let after = CoreUse(of: [1, 2], in: Self.stat(worked: 100))
        // Core 1 was busy for one second of four, and core 2 for all four seconds.
        #expect(after.share(of: 3, since: before) == 3.0 / 8)
        #expect(after.shareOfOthers(since: before, ours: 3) == 2.0 / 8)
        #expect(
            after.shareOfOthers(since: before, ours: 5.2) == 0
                && after.shareOfOthers(since: after, ours: 0) == 0)
    }

    private static func stat(worked: Int) -> String {
        """
        cpu  9 9 9 9 9 9 9 9 0 0
        cpu0 \(worked * 9) 0 0 0 0 0 0 0 0 0
        cpu1 \(worked) 0 0 \(worked * 2) \(worked) 0 0 0 0 0
        cpu2 \(worked) 0 \(worked) 0 0 \(worked / 2) \(worked / 2) \(worked) 0 0
        cpu10 \(worked * 9) 0 0 0 0 0 0 0 0 0
        intr 5
        """
    }
}
